//! One profile's copy there and back, and the removal of what it left on the server.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use coax_client::{CopySpec, Operation, profile::Profile};

use super::{
    Bench,
    data::{self, Stoppable},
    figures::{Row, Times},
};
use crate::client::{Breaker, Connection, Error, local::Nothing};

/// How soon a wish to stop is noticed.
const ATTENTION: Duration = Duration::from_millis(100);

impl Bench<'_> {
    /// Copies the file to the server and back, and removes it there.
    pub(super) fn there_and_back(
        &mut self,
        profile: &Arc<Profile>,
        row: &mut Row,
        told: &mut dyn FnMut(bool),
    ) -> Result<(), Error> {
        let mut connection = crate::client::open(&self.plan.place, profile, &self.plan.options)?;
        row.dialect = Some(connection.link().dialect.name);
        // what it took to connect is no part of a copy
        connection.exchanges();
        let path = self.new_path()?;
        let copied = self.copies(&mut connection, &path, row, told);
        let removed = self.remove(connection, profile, &path);
        copied?;
        if !removed {
            self.notes.push(format!(
                "{path} is left on the server: it could not be removed"
            ));
        }
        let same = data::hash(&self.room, self.plan.size).map_err(local_trouble)? == self.hash;
        row.contents.note(same);
        Ok(())
    }

    /// Both copies; times and requests go into the row.
    fn copies(
        &self,
        connection: &mut Connection,
        path: &str,
        row: &mut Row,
        told: &mut dyn FnMut(bool),
    ) -> Result<(), Error> {
        // what was there before must not pass for what came
        data::wipe(&self.room, self.plan.size).map_err(local_trouble)?;
        told(true);
        let put = CopySpec::put(path, self.plan.size);
        self.timed(connection, put, &mut row.to_server)?;
        told(false);
        self.timed(connection, CopySpec::get(path), &mut row.to_client)?;
        row.requests.add(&connection.exchanges());
        Ok(())
    }

    fn timed(
        &self,
        connection: &mut Connection,
        spec: CopySpec,
        times: &mut Times,
    ) -> Result<(), Error> {
        let to_server = spec.direction == coax_client::Direction::ToServer;
        let file = if to_server {
            &self.original
        } else {
            &self.room
        };
        let mut local = Stoppable {
            file,
            stop: self.stop,
        };
        let breaker = connection.breaker().map_err(local_trouble)?;
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watch = scope.spawn(|| self.watch(&breaker, &over));
            let began = Instant::now();
            let outcome = connection.run(Operation::Copy(spec), &mut local);
            let took = began.elapsed();
            over.store(true, Ordering::Relaxed);
            watch.thread().unpark();
            outcome.map(|_| times.push(took))
        })
    }

    /// Breaks the connection off once somebody wishes to stop.
    fn watch(&self, breaker: &Breaker, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            if self.stop.is_set() {
                breaker.break_off();
                return;
            }
            thread::park_timeout(ATTENTION);
        }
    }

    /// Removes the file, over a new connection if the old one is over; whether it is gone.
    fn remove(&self, mut connection: Connection, profile: &Arc<Profile>, path: &str) -> bool {
        let delete = || Operation::Delete { path: path.into() };
        if !connection.is_over() && connection.run(delete(), &mut Nothing).is_ok() {
            return true;
        }
        drop(connection);
        let again = crate::client::open(&self.plan.place, profile, &self.plan.options);
        again.is_ok_and(|mut connection| connection.run(delete(), &mut Nothing).is_ok())
    }

    /// A name nobody else has, short enough for DOS.
    fn new_path(&self) -> Result<String, Error> {
        let mut bytes = [0; 3];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| local_trouble(error.into()))?;
        let [a, b, c] = bytes;
        let name = format!("CX{a:02X}{b:02X}{c:02X}.TMP");
        let folder = &self.plan.place.path;
        Ok(if folder.is_empty() {
            name
        } else {
            format!("{}/{name}", folder.trim_end_matches('/'))
        })
    }
}

fn local_trouble(error: std::io::Error) -> Error {
    Error::System {
        what: "this machine refuses the bench its file",
        error,
    }
}
