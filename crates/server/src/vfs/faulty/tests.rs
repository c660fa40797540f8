#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
use super::*;
use crate::{
    memfs::MemFs,
    vfs::conformance::{CREATE, READ},
};
use alloc::boxed::Box;

fn fresh() -> ((), FaultyVfs) {
    ((), FaultyVfs::new(Arc::new(MemFs::new())))
}

mod conforms_where_nothing_fails {
    use super::*;
    crate::conformance_tests!(fresh);
}

#[test]
fn calls_are_numbered_over_all_objects_and_only_the_chosen_one_fails() {
    let (_, fs) = fresh();
    let file = fs.open("A", CREATE).unwrap().0;
    fs.restart(at(2, VfsError::Io(5).into()));
    file.write_at(0, b"abc").unwrap();
    fs.stat("A").unwrap();
    assert_eq!(file.stat(), Err(VfsError::Io(5)));
    assert_eq!(file.stat().unwrap().size, 3);
    assert_eq!(fs.count(), 4);
    let ops: Vec<Op> = fs.seen().iter().map(|seen| seen.op).collect();
    assert_eq!(ops, [Op::FileWriteAt, Op::Stat, Op::FileStat, Op::FileStat]);
    assert_eq!(fs.seen()[2].failed, Some(VfsError::Io(5).into()));
}

#[test]
fn a_failing_write_leaves_the_bytes_that_its_fault_says() {
    let (_, fs) = fresh();
    let file = fs.open("A", CREATE).unwrap().0;
    let fault = Fault {
        error: VfsError::NoSpace,
        written: 2,
    };
    fs.restart(from(0, fault));
    assert_eq!(file.write_at(0, b"abcd"), Err((2, VfsError::NoSpace)));
    assert_eq!(
        file.write_at(2, b"c"),
        Err((1, VfsError::NoSpace)),
        "the count must not exceed the length"
    );
    fs.restart(never());
    let file = fs.open("A", READ).unwrap().0;
    let mut bytes = [0; 9];
    assert_eq!(file.read_at(0, &mut bytes).unwrap(), 3);
    assert_eq!(&bytes[..3], b"abc");
}

#[test]
fn a_failing_call_has_no_effect() {
    let (_, fs) = fresh();
    fs.restart(Box::new(|seen| {
        seen.op.changes().then_some(VfsError::ReadOnly.into())
    }));
    assert_eq!(fs.make_dir("D"), Err(VfsError::ReadOnly));
    assert_eq!(fs.stat("D").unwrap_err(), VfsError::NotFound);
    assert_eq!(fs.seen()[0].on, "D");
}

#[test]
fn an_open_is_recorded_with_its_mode() {
    let (_, fs) = fresh();
    fs.open("A", CREATE).unwrap();
    assert_eq!(fs.seen()[0].on, "A [rwc]");
}
