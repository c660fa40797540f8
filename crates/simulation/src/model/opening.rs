//! Opens: dispositions, share modes, oplocks.

use super::{Check, Moment, Node, Open, Place, State, excludes, name, parent, place, require};
use crate::{
    op::{IfExists, OpenArgs, Oplock, Request, Sharing, Verb, right},
    reply::Opened,
};
use coax_server::share::Access;

/// Whether a path has the name of a program, which compatibility mode shares freely.
fn is_program(path: &str) -> bool {
    [".EXE", ".COM"].iter().any(|ending| path.ends_with(ending))
}

/// The rights that an open leaves to others ([MS-CIFS] 2.2.4.3.1).
pub(super) fn lets(args: &OpenArgs, path: &str) -> u8 {
    match args.sharing {
        Sharing::Nt(lets) => lets,
        Sharing::Deny(1) | Sharing::Fcb => 0,
        Sharing::Deny(2) => right::READ,
        Sharing::Deny(3) => right::WRITE,
        Sharing::Deny(_) => right::READ | right::WRITE,
        Sharing::Compatibility if is_program(path) => right::READ | right::WRITE,
        Sharing::Compatibility if args.rights & right::WRITE != 0 => 0,
        Sharing::Compatibility => right::READ,
    }
}

/// Rights for share modes: overwriting counts as writing.
pub(super) fn effective(args: &OpenArgs) -> u8 {
    let overwrites = args.if_exists == IfExists::Overwrite;
    args.rights | if overwrites { right::WRITE } else { 0 }
}

/// Whether opens of one process, in compatibility mode or by control block, join each other.
pub(super) fn joins(open: &Open, request: &Request, args: &OpenArgs, path: &str) -> bool {
    let joining = |sharing| matches!(sharing, Sharing::Compatibility | Sharing::Fcb);
    let program = open.sharing == Sharing::Compatibility && is_program(path);
    joining(open.sharing)
        && joining(args.sharing)
        && (open.uid, open.pid) == (request.uid, request.pid)
        && open.rights & right::WRITE != 0
        && !program
}

impl State {
    pub(super) fn opened(
        &mut self,
        request: &Request,
        args: &OpenArgs,
        opened: Opened,
        at: Moment<'_>,
    ) -> Check {
        self.expire(at.now);
        let share = self.authorized(request, Access::Read)?;
        let there = place(share, &args.path);
        let known = self.names.get(&there).copied();
        let changes = args.rights & !right::READ != 0 || args.delete_on_close;
        if changes || known.is_none() || args.if_exists == IfExists::Overwrite {
            self.authorized(request, Access::Write)?;
        }
        let action = match (known, args.if_exists) {
            (None, _) => 2,
            (Some(_), IfExists::Overwrite) => 3,
            (Some(_), _) => 1,
        };
        // The file exists even if the disk failed to set its length.
        let size = opened.size.unwrap_or(u64::from(args.length)) as u32;
        let length = if at.faults > 0 {
            size.min(args.length)
        } else {
            args.length
        };
        let wanted = args.length;
        let args = &OpenArgs {
            length,
            ..args.clone()
        };
        let said = opened.action.unwrap_or(action);
        require(
            said == action,
            "the open did something else than its disposition says",
        )?;
        match known {
            Some(node) => self.open_existing(request, args, node, at)?,
            None => self.create(args, &there)?,
        }
        self.enter(request, args, opened, &there)?;
        if wanted != 0 && at.faults > 0 && action != 1 {
            self.perhaps_overwrite(self.names[&there], wanted);
        }
        Ok(())
    }

    fn open_existing(
        &mut self,
        request: &Request,
        args: &OpenArgs,
        node: usize,
        at: Moment<'_>,
    ) -> Check {
        let there = &self.nodes[node];
        let path = there.place.clone().unwrap_or_default().1;
        require(
            args.if_exists != IfExists::Fail,
            "a create that must fail found the name and succeeded",
        )?;
        require(!there.doomed, "opened although its deletion is pending")?;
        let folder_wanted = args
            .folder
            .unwrap_or(there.folder && args.verb == Verb::NtCreate);
        require(
            folder_wanted == there.folder,
            "a folder was opened as a file, or a file as a folder",
        )?;
        let overwrites = args.if_exists == IfExists::Overwrite;
        require(!overwrites || !there.folder, "a folder was overwritten")?;
        let (client, wanted) = (request.client, (effective(args), lets(args, &path)));
        let mut joined = false;
        for ((of, _), open) in self.opens_of(node) {
            let joining = *of == client && joins(open, request, args, &path);
            joined |= joining;
            let conflict = excludes((open.rights, open.lets), wanted);
            require(
                !conflict || joining || joined,
                "opened against the share modes of another open",
            )?;
        }
        if effective(args) != 0 && !joined {
            require(
                !self.held_exclusively(node, at.now),
                "opened before the holder of an oplock had given it up",
            )?;
            let dirty = self
                .opens_of(node)
                .any(|(_, open)| open.dirty && open.oplock.excludes());
            require(
                !dirty,
                "opened before the holder of an oplock had written what it cached",
            )?;
        }
        self.nodes[node].perhaps_doomed = false;
        if overwrites {
            self.set_bytes(node, vec![0; args.length as usize]);
            self.contents_changed(node);
        }
        Ok(())
    }

    fn create(&mut self, args: &OpenArgs, there: &Place) -> Check {
        require(args.create, "opened a name that does not exist")?;
        let folder = self
            .folder_at(there.0, parent(&there.1))
            .ok_or("created in a folder that does not exist")?;
        require(
            !self.nodes[folder].doomed,
            "created in a folder whose deletion is pending",
        )?;
        self.put(
            there.clone(),
            (args.folder != Some(true)).then(|| vec![0; args.length as usize]),
        );
        self.appeared(there, args.folder == Some(true));
        Ok(())
    }

    fn enter(
        &mut self,
        request: &Request,
        args: &OpenArgs,
        opened: Opened,
        there: &Place,
    ) -> Check {
        let node = self.names[there];
        let Node { bytes, folder, .. } = &self.nodes[node];
        let right_size = opened
            .size
            .is_none_or(|size| self.may_have_length(node, size));
        require(
            right_size,
            &format!(
                "the open says {:?} bytes, and {} were acknowledged",
                opened.size,
                bytes.len()
            ),
        )?;
        let granted = opened.oplock;
        require(
            granted <= args.oplock,
            "an oplock was granted that nobody asked for",
        )?;
        require(
            granted == Oplock::None || !folder,
            "an oplock was granted on a folder",
        )?;
        let others = self
            .opens_of(node)
            .any(|(_, open)| open.rights != 0 || open.oplock.excludes());
        require(
            !granted.excludes() || !others,
            "an exclusive oplock was granted on a file that others have open",
        )?;
        let open = Open {
            node,
            uid: request.uid,
            tid: request.tid,
            pid: request.pid,
            rights: args.rights,
            sharing: args.sharing,
            lets: lets(args, &there.1),
            oplock: granted,
            breaking: None,
            untold: args.oplock != Oplock::None && args.verb != Verb::NtCreate,
            break_due: false,
            delete_on_close: args.delete_on_close,
            dirty: false,
            deferred: false,
            lock_cancelled: false,
            watch: None,
        };
        let before = self.opens.insert((request.client, opened.fid), open);
        require(before.is_none(), "a FID in use was given again")?;
        debug_assert!(!name(&there.1).is_empty() || *folder);
        Ok(())
    }
}
