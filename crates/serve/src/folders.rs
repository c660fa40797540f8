//! Watches the shares' folders while the server runs. It reports folders that disappear or return, and other servers
//! that share the same folder.

use std::{sync::Arc, time::Duration};

use super::{folder::Folder, host::Host, report::Reporter};
use coax_disk::{Claim, RootChange};

/// State of one folder, which several shares may use.
#[derive(Debug)]
struct Watch {
    folder: Folder,
    claim: Claim,
    /// Whether the other server that shares the folder was reported.
    said: bool,
}

/// Watches the folders until the server stops. Each check uses a thread of its own share, so a hung folder does not
/// delay others.
pub(super) fn watch(host: &Arc<Host>, folders: Vec<Folder>, period: Duration) {
    watch_but(host, &[], folders, period);
}

/// After a reload: watches the folders that `before` did not contain. The watches of others end by themselves.
pub(super) fn watch_but(
    host: &Arc<Host>,
    before: &[Folder],
    folders: Vec<Folder>,
    period: Duration,
) {
    let watched = |folder: &Folder| before.iter().any(|other| other.is(folder));
    let stays = |folder: &&Folder| folders.iter().any(|other| other.is(folder));
    let mut seen: Vec<_> = before
        .iter()
        .filter(stays)
        .map(|folder| folder.disk.id())
        .collect();
    // An earlier watch of the same folder must have ended and given back its claim.
    let delay = match before.is_empty() {
        true => Duration::ZERO,
        false => period.saturating_mul(2),
    };
    for folder in folders.iter().cloned() {
        if watched(&folder) {
            continue;
        }
        let id = folder.disk.id();
        // Two shares of this server may use the same folder; only the first claims it.
        let claims = !seen.contains(&id);
        seen.push(id);
        let watch = Watch {
            folder,
            claim: Claim::Unknown,
            said: !claims,
        };
        let watching = run(host.clone(), watch, claims, period);
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            watching.await;
        });
    }
}

async fn run(host: Arc<Host>, mut watch: Watch, claims: bool, period: Duration) {
    loop {
        let pass = host
            .lanes
            .try_pass(coax_server::Reach::Share(watch.folder.id));
        if let Some(pass) = pass {
            let reporter = host.reporter.clone();
            let look = move || {
                watch.look(&reporter, claims);
                drop(pass);
                watch
            };
            match host.pool.run(look).await {
                Ok(looked) => watch = looked,
                Err(_) => return,
            }
        }
        tokio::select! {
            () = tokio::time::sleep(period) => {}
            () = host.stopped() => return,
        }
        let service = host.service();
        if !service.folders.iter().any(|other| other.is(&watch.folder)) {
            return;
        }
    }
}

impl Watch {
    fn look(&mut self, reporter: &Reporter, claims: bool) {
        let change = self.folder.disk.check();
        if let Some(change) = &change {
            reporter.notice(self.in_words(change));
            // The lock belongs to the folder that was there before.
            self.claim = Claim::Unknown;
        }
        if !claims || matches!(self.claim, Claim::Ours(_)) {
            return;
        }
        self.claim = self.folder.disk.claim(self.folder.writes);
        let taken = matches!(self.claim, Claim::Theirs);
        if taken && !std::mem::replace(&mut self.said, true) {
            let Folder { name, path, .. } = &self.folder;
            reporter.notice(format!(
                "share {name}: another server shares {path}, too; the two know nothing of each other's locks, oplocks and \
                 share modes, so files can be damaged: stop one of them"
            ));
        }
    }

    fn in_words(&self, change: &RootChange) -> String {
        let Folder { name, path, .. } = &self.folder;
        match change {
            RootChange::Gone => format!(
                "share {name}: its folder {path} is gone; clients get an error until there is one again"
            ),
            RootChange::Back => format!("share {name}: its folder {path} is there again"),
            RootChange::Replaced => {
                format!("share {name}: another folder is at {path} now, and is shared from now on")
            }
            RootChange::Unreadable(why) => format!(
                "share {name}: another folder is at {path} now and cannot be read ({why}); the sandbox admits only the one \
                 that was there at the start: restart coax, or set 'coax:sandbox = no'"
            ),
        }
    }
}
