//! Who may sign what: allowed signers, the policy, and SSH signatures over stored bytes.
