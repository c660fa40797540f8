//! Copies the file with one profile in both directions and removes it from the server.

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

/// Interval at which the stop flag is checked.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(100);

impl Bench<'_> {
    /// Copies the file to the server and back, and removes it there.
    pub(super) fn there_and_back(
        &mut self,
        profile: &Arc<Profile>,
        row: &mut Row,
        on_direction: &mut dyn FnMut(bool),
    ) -> Result<(), Error> {
        let mut connection = crate::client::open(&self.plan.place, profile, &self.plan.options)?;
        row.dialect = Some(connection.link().dialect.name);
        // the requests of the connection set-up do not count as part of the copy
        connection.exchanges();
        let path = self.new_path()?;
        let copied = self.copies(&mut connection, &path, row, on_direction);
        let removed = self.remove(connection, profile, &path);
        copied?;
        if !removed {
            self.notes.push(format!(
                "{path} is left on the server: it could not be removed"
            ));
        }
        let same = data::hash(&self.received, self.plan.size).map_err(local_error)? == self.hash;
        row.contents.note(same);
        Ok(())
    }

    /// Makes both copies and adds times and requests to the row.
    fn copies(
        &self,
        connection: &mut Connection,
        path: &str,
        row: &mut Row,
        on_direction: &mut dyn FnMut(bool),
    ) -> Result<(), Error> {
        // old data in the buffer must not be taken for received data
        data::wipe(&self.received, self.plan.size).map_err(local_error)?;
        on_direction(true);
        let put = CopySpec::put(path, self.plan.size);
        self.timed(connection, put, &mut row.to_server)?;
        on_direction(false);
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
            &self.received
        };
        let mut local = Stoppable {
            file,
            stop: self.stop,
        };
        let breaker = connection.breaker().map_err(local_error)?;
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

    /// Breaks the connection off when the user stops the benchmark.
    fn watch(&self, breaker: &Breaker, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            if self.stop.is_set() {
                breaker.break_off();
                return;
            }
            thread::park_timeout(STOP_CHECK_INTERVAL);
        }
    }

    /// Removes the file, over a new connection if the old one is closed. Returns whether the file is gone.
    fn remove(&self, mut connection: Connection, profile: &Arc<Profile>, path: &str) -> bool {
        let delete = || Operation::Delete { path: path.into() };
        if !connection.is_over() && connection.run(delete(), &mut Nothing).is_ok() {
            return true;
        }
        drop(connection);
        let again = crate::client::open(&self.plan.place, profile, &self.plan.options);
        again.is_ok_and(|mut connection| connection.run(delete(), &mut Nothing).is_ok())
    }

    /// A unique file name that is valid in DOS.
    fn new_path(&self) -> Result<String, Error> {
        let mut bytes = [0; 3];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| local_error(error.into()))?;
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

fn local_error(error: std::io::Error) -> Error {
    Error::System {
        what: "this machine refuses the bench its file",
        error,
    }
}
