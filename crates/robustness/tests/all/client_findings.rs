//! What fuzzing the redirector's engine found, so that it stays found.

use coax_client::{Error, Operation};
use coax_robustness::{
    choices::Choices,
    engine::world::START,
    redirector::{
        plan::{Plan, Task},
        subject::Subject,
    },
};

/// A redirector of the first profile, with nobody at the other end.
fn alone() -> Subject {
    Subject::new(START, &Plan::from_choices(&mut Choices::new(&[])))
}

fn disk_space() -> Task {
    Task {
        operation: Operation::DiskSpace,
        local_len: 0,
        full_at: 0,
    }
}

#[test]
fn nothing_is_due_once_the_connection_is_over() {
    let mut subject = alone();
    subject.submit(disk_space());
    subject.settle(0);
    assert!(subject.client.poll_timeout().is_some());
    let subject = subject.end();
    assert_eq!(subject.client.poll_timeout(), None);
}

#[test]
fn operations_that_are_not_over_at_the_good_bye_end_all_the_same() {
    let mut subject = alone();
    let job = subject.submit(disk_space());
    subject.client.finish(START);
    subject.settle(0);
    assert!(subject.client.is_closed());
    let end = subject.ends[&job].as_ref().unwrap_err();
    assert_eq!(*end, Error::Closed { waiting: None });
}
