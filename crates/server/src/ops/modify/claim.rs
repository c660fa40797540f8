//! Claims exclusive use of a file for one operation: an open in the shared tables without a FID.

use super::doomed::remove_doomed;
use super::place::{Place, Step};
use crate::{
    context::{Call, Park},
    error::{Because, Result},
    reason::{Limit, Reason},
    table::{OpenId, OpenOutcome, OpenRequest, OplockWish, Refusal, Sharing, access, share},
    vfs::{Kind, Stat},
};
use coax_wire::status::Status;

/// The access that a change needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// Rights, as an NT access mask.
    access: u32,
    /// Sharing during the change ([`share`]).
    sharing: u32,
    /// The change replaces the contents.
    overwrites: bool,
}

impl Wish {
    /// To delete a file: no other open of its data ([MS-CIFS] 3.3.5.9).
    pub(super) const DELETE_FILE: Self = Self::new(access::DELETE, share::NONE);
    /// To remove a folder: all opens of it share deletion.
    pub(super) const REMOVE_DIR: Self = Self::new(access::DELETE, share::ALL);
    /// To rename: others may read and write if they share deletion.
    pub(super) const RENAME: Self = Self::new(access::DELETE, share::READ | share::WRITE);
    /// To rename by SetPathInformation, which shares everything.
    pub(super) const RENAME_SHARED: Self = Self::new(access::DELETE, share::ALL);
    /// To create.
    pub(super) const CREATE: Self = Self::new(access::WRITE_DATA, share::NONE);
    /// To copy from.
    pub(super) const COPY_FROM: Self = Self::new(access::READ_DATA, share::READ | share::WRITE);
    /// To copy from, and then delete.
    pub(super) const MOVE_FROM: Self = Self::new(access::READ_DATA | access::DELETE, share::NONE);
    /// To copy to, replacing the contents.
    pub(super) const OVERWRITE: Self = Self {
        overwrites: true,
        ..Self::new(access::WRITE_DATA, share::READ)
    };
    /// To append to.
    pub(super) const APPEND: Self = Self::new(access::WRITE_DATA, share::READ);

    const fn new(access: u32, sharing: u32) -> Self {
        Self {
            access,
            sharing,
            overwrites: false,
        }
    }
}

/// The result of a claim.
#[derive(Clone, Copy, Debug)]
pub(super) enum Claimed {
    Yes(OpenId),
    Park(Park),
}

/// Runs `work` while it claims the object at `path`. If `work` marks the object for deletion, it is deleted afterwards,
/// or when its last other open closes.
///
/// # Errors
/// `SHARING_VIOLATION`, `DELETE_PENDING`; those of `work`, and of the removal.
pub(super) fn claiming(
    call: &Call<'_>,
    place: &Place,
    (path, stat): (&str, &Stat),
    wish: Wish,
    work: impl FnOnce(OpenId) -> Result<()>,
) -> Result<Step> {
    let open = match claim(call, place, (path, stat), wish)? {
        Claimed::Yes(open) => open,
        Claimed::Park(park) => return Ok(Step::Park(park)),
    };
    let worked = work(open);
    let released = release(call, place, open);
    worked.and(released).map(|()| Step::Done)
}

/// Claims an object. It waits for others to close the object, as long as opens do. [`release`] must follow.
///
/// # Errors
/// As [`claiming`].
pub(super) fn claim(
    call: &Call<'_>,
    place: &Place,
    object: (&str, &Stat),
    wish: Wish,
) -> Result<Claimed> {
    ask(call, &request(call, place, object, wish))
}

/// The same, for a request built by another operation.
///
/// # Errors
/// As [`claiming`].
pub(super) fn ask(call: &Call<'_>, request: &OpenRequest) -> Result<Claimed> {
    let server = &call.conn.server;
    match server.locked(|tables| tables.open_patiently(call.now, request, call.patience())) {
        OpenOutcome::Granted { open, .. } => Ok(Claimed::Yes(open)),
        OpenOutcome::BreakFirst { ticket, deadline } => Ok(Claimed::Park(Park {
            ticket,
            deadline: Some(deadline),
        })),
        OpenOutcome::SharingViolation => Err(call.sharing_violation(request)),
        OpenOutcome::DeletePending => Err(Status::DELETE_PENDING.into()),
        OpenOutcome::Refused(Refusal::TooManyOpens) => {
            Err(Status::TOO_MANY_OPENED_FILES.because(Reason::Limit(Limit::Opens)))
        }
        OpenOutcome::Refused(_) => {
            Err(Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Waits)))
        }
    }
}

/// Releases a claim and deletes an object that was marked for deletion meanwhile.
///
/// # Errors
/// Those of the removal.
pub(super) fn release(call: &Call<'_>, place: &Place, open: OpenId) -> Result<()> {
    let server = &call.conn.server;
    let doomed = match server.locked(|tables| tables.close(open)) {
        Ok(closed) => closed.delete,
        Err(_) => None,
    };
    match doomed {
        Some(doomed) => {
            let by = (call.header.uid, &*place.share);
            remove_doomed(call.conn, by, &doomed, call.now)
        }
        None => Ok(()),
    }
}

/// Breaks all oplocks that conflict with changing any of these objects, and waits a while for their openers to close
/// them. So none of the objects is changed before all can be: a parked request runs again from its beginning.
pub(super) fn settle<'a>(
    call: &Call<'_>,
    place: &Place,
    objects: impl Iterator<Item = (&'a str, &'a Stat)>,
    wish: Wish,
) -> Option<Park> {
    let server = &call.conn.server;
    server.locked(|tables| {
        for object in objects {
            if tables.opens_of_file(object.1.id).next().is_none() {
                continue;
            }
            let request = request(call, place, object, wish);
            match tables.open_patiently(call.now, &request, call.patience()) {
                OpenOutcome::Granted { open, .. } => drop(tables.close(open)),
                OpenOutcome::BreakFirst { ticket, deadline } => {
                    return Some(Park {
                        ticket,
                        deadline: Some(deadline),
                    });
                }
                _ => {}
            }
        }
        None
    })
}

/// Checks share modes and pending deletions for a claim without breaking oplocks, or waits for others to close the
/// object.
///
/// # Errors
/// `SHARING_VIOLATION`.
pub(super) fn must_fit(
    call: &Call<'_>,
    place: &Place,
    object: (&str, &Stat),
    wish: Wish,
) -> Result<Step> {
    let request = request(call, place, object, wish);
    call.conn.server.locked(|tables| {
        if tables.would_fit(&request) {
            return Ok(Step::Done);
        }
        let waits = match tables.is_delete_pending(request.file) {
            true => None,
            false => tables.wait_for_close(call.now, &request, call.patience()),
        };
        let (ticket, deadline) = waits.ok_or_else(|| {
            Status::SHARING_VIOLATION.because(Reason::Sharing(tables.sharing_holder(&request)))
        })?;
        let deadline = Some(deadline);
        Ok(Step::Park(Park { ticket, deadline }))
    })
}

/// Ends a wait in the middle of a change of many files, which can no longer be parked.
///
/// # Errors
/// `SHARING_VIOLATION` instead of a wait.
pub(super) fn too_late_to_park(call: &Call<'_>, step: Step) -> Result<()> {
    match step {
        Step::Done => Ok(()),
        Step::Park(park) => {
            let server = &call.conn.server;
            server.locked(|tables| tables.forget_parked(park.ticket));
            Err(Status::SHARING_VIOLATION.because(Reason::Sharing(None)))
        }
    }
}

pub(super) fn request(
    call: &Call<'_>,
    place: &Place,
    (path, stat): (&str, &Stat),
    wish: Wish,
) -> OpenRequest {
    let sharing = if place.share.options.share_modes {
        wish.sharing
    } else {
        share::ALL
    };
    OpenRequest {
        file: stat.id,
        conn: call.conn.id,
        uid: call.header.uid.0,
        pid: (call.header.pid.0 & 0xffff) as u16,
        tree: call.header.tid.0,
        share: place.share.id,
        path: path.into(),
        stream: None,
        is_directory: stat.kind == Kind::Directory,
        access: wish.access,
        sharing: Sharing::Nt(sharing),
        oplock: OplockWish::None,
        level2: false,
        fake_oplocks: place.share.options.fake_oplocks,
        overwrites: wish.overwrites,
        delete_on_close: false,
    }
}
