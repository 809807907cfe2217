//! The Lesson: from the bytes of `lesson.toml` to a resolved lesson.
//!
//! [`raw`] is what may be written, typed and with unknown keys refused; [`model`] is what the rest
//! of the flow takes. [`resolve`] goes from one to the other, filling what the folder, the README
//! and the program's header already say. **Invariant: a [`Lesson`] has at least one program, each
//! with a template that checks something.**

pub mod model;
pub mod raw;
mod resolve;

pub use model::{Below, Lesson, Needs, Program, PublishRules, RunChoice, RunRules, Variant};
pub use raw::RawLesson;
pub use resolve::{LessonSource, resolve};
