//! Who the machines of a connection are, and what can be done about a slow copy between them.
//!
//! Both are data: redirectors are those of `data/clients`, servers, other programs and TCP stacks those of `data/*-guess.toml`, and
//! each piece of advice is an entry of `data/advice` (docs/advice.md has its form and the facts that it may ask for).

mod advice;
mod condition;
mod facts;
mod parties;
mod slow;
mod stacks;
mod vocabulary;

pub use advice::{
    Advice, Change, Entry, Place, RuleEdit, advise, advise_account, advise_operation, entries,
    remarks,
};
pub use condition::Condition;
pub use facts::Facts;
pub(crate) use parties::recognise;
pub use parties::{named_client, profiles};
pub(crate) use stacks::recognise as recognise_stacks;
pub use vocabulary::{Value, Word, vocabulary};
