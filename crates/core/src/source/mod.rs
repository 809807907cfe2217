//! A lesson program as text: tokens, digests, header comment, snippets, marked copies.
