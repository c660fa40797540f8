//! The redirector's engine under whatever a server sends: [`story`] feeds it bytes, [`conversation`] joins it to the real
//! server and tampers with what that says. [`subject`] checks after every step what must hold.

pub mod conversation;
pub mod plan;
pub mod seeds;
pub mod story;
pub mod subject;
