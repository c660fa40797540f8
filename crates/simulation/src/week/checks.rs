//! What must hold each hour, and each night.

use coax_server::table::{Census, Remembered};

use super::{state::Week, terms::MACHINES};
use crate::rules::{SHARES, USERS};

/// Bounds of a client's resources: three times what one visit may leave.
const OPENS_MAX: usize = 1_000;

/// The shared tables agree with the connections.
pub(crate) fn hourly(week: &mut Week) -> Result<(), String> {
    let visits = week
        .machines
        .iter()
        .filter_map(|machine| machine.visit.as_ref());
    let held: Vec<_> = visits.map(|visit| visit.conn.held()).collect();
    let census = week.office.server.locked(|tables| tables.census());
    let sum = |of: fn(&coax_server::Held) -> usize| held.iter().map(of).sum::<usize>();
    let (opens, parked) = (sum(|held| held.opens), sum(|held| held.parked));
    if census.connections != held.len() {
        return Err(format!(
            "the tables have {} connections, and {} exist",
            census.connections,
            held.len()
        ));
    }
    // print jobs have no row
    if census.opens > opens || census.tickets > parked || census.files > census.opens {
        return Err(format!(
            "{census:?} with {opens} opens and {parked} parked requests"
        ));
    }
    if opens > OPENS_MAX {
        return Err(format!("{opens} opens"));
    }
    let most = &mut week.figures.most;
    *most = (
        most.0.max(held.len()),
        most.1.max(opens),
        most.2.max(parked),
    );
    for machine in &mut week.machines {
        if let Some(visit) = &mut machine.visit {
            week.office.count(visit.conn.take_moved());
        }
    }
    Ok(())
}

/// Nobody is there: nothing is left but what is remembered on purpose, which is bounded.
pub(crate) fn nightly(week: &mut Week) -> Result<(), String> {
    let left = week
        .machines
        .iter()
        .filter(|machine| machine.visit.is_some())
        .count();
    if left > 0 {
        return Err(format!("{left} clients are still connected in the night"));
    }
    let (census, remembered) = week
        .office
        .server
        .locked(|tables| (tables.census(), tables.remembered()));
    if census != Census::default() {
        return Err(format!("left in the night: {census:?}"));
    }
    bounded(remembered)?;
    let jobs = week.office.jobs();
    if !jobs.is_empty() {
        return Err(format!("{} print jobs are left", jobs.len()));
    }
    objects(week)?;
    bytes(week)?;
    week.network.check()
}

fn bounded(remembered: Remembered) -> Result<(), String> {
    let Remembered {
        addresses,
        failed_addresses,
        failed_users,
        evictions,
        folders,
        ..
    } = remembered;
    let is_bounded = addresses == 0
        && evictions == 0
        && failed_addresses <= MACHINES
        && failed_users <= USERS.len()
        && folders <= SHARES.len() + MACHINES + 1;
    match is_bounded {
        true => Ok(()),
        false => Err(format!("remembered in the night: {remembered:?}")),
    }
}

/// The disks hold no file without a name.
fn objects(week: &Week) -> Result<(), String> {
    for (rule, disk) in SHARES.iter().zip(&week.office.disks) {
        let mut named = 1;
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            use coax_server::vfs::{Kind, Vfs};
            let names = disk.open_dir(&folder).and_then(|dir| dir.names());
            for name in names.unwrap_or_default() {
                let path = coax_server::vfs::path::join(&folder, &name);
                named += 1;
                if disk
                    .stat(&path)
                    .is_ok_and(|stat| stat.kind == Kind::Directory)
                {
                    folders.push(path);
                }
            }
        }
        if disk.objects() != named {
            let objects = disk.objects();
            return Err(format!(
                "{} has {objects} objects and {named} names",
                rule.name
            ));
        }
    }
    Ok(())
}

/// Every byte that a client read or wrote is counted once.
fn bytes(week: &Week) -> Result<(), String> {
    let known = week.machines.iter().fold((0, 0), |sum, machine| {
        (sum.0 + machine.read, sum.1 + machine.written)
    });
    let counted = week.office.counted.borrow();
    let files = counted.get(SHARES[0].name).copied().unwrap_or_default();
    match (files.read, files.written) == known {
        true => Ok(()),
        false => Err(format!(
            "clients read and wrote {known:?} bytes, counted are {files:?}"
        )),
    }
}
