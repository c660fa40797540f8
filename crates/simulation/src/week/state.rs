//! The state of a week, and its events in order of time.

use super::{
    machine::Machine,
    network::Network,
    office::Office,
    terms::{BEGIN, Defect, Figures, MACHINES},
};
use crate::rng::Rng;

/// Events at one instant: more is a loop.
const AT_ONCE_MAX: u32 = 10_000;

/// The state.
pub(crate) struct Week {
    pub(crate) now: u64,
    pub(crate) office: Office,
    pub(crate) machines: Vec<Machine>,
    pub(crate) network: Network,
    pub(crate) figures: Figures,
    pub(crate) defect: Option<Defect>,
    rng: Rng,
}

impl Week {
    pub(crate) fn new(seed: u64, defect: Option<Defect>) -> Self {
        let mut rng = Rng::new(seed, 0);
        let office = Office::new(MACHINES);
        let machines = (0..MACHINES).map(|number| Machine::new(number, &mut rng));
        Self {
            now: BEGIN,
            machines: machines.collect(),
            network: Network::new(seed),
            office,
            figures: Figures::default(),
            defect,
            rng,
        }
    }

    /// Lets everything happen up to `until`.
    pub(crate) fn run(&mut self, until: u64) -> Result<(), String> {
        let mut at_once = 0;
        loop {
            let due = self.next().filter(|due| *due <= until);
            let Some(due) = due else { break };
            if due < self.now {
                return Err(format!("a deadline lies {} ns in the past", self.now - due));
            }
            at_once = if due == self.now { at_once + 1 } else { 0 };
            if at_once > AT_ONCE_MAX {
                return Err("something happens again and again without time passing".into());
            }
            self.now = due;
            self.office.set_time(due);
            self.figures.instants += 1;
            self.instant()?;
            self.deadlines()?;
        }
        self.now = until;
        Ok(())
    }

    /// When something happens next.
    fn next(&self) -> Option<u64> {
        let missed = self.defect == Some(Defect::MissedTimer);
        let machines = self.machines.iter().map(|machine| machine.next(missed));
        machines.chain(self.network.next()).min()
    }

    fn instant(&mut self) -> Result<(), String> {
        let (now, missed) = (self.now, self.defect == Some(Defect::MissedTimer));
        for machine in &mut self.machines {
            machine.expire(now, &mut self.figures, missed)?;
        }
        self.wake()?;
        for machine in 0..self.machines.len() {
            let uses = (&self.office, self.defect);
            self.machines[machine].act(now, &mut self.rng, uses, &mut self.figures)?;
            self.wake()?;
        }
        let jobs = self
            .machines
            .iter_mut()
            .flat_map(|machine| std::mem::take(&mut machine.jobs));
        let jobs: Vec<String> = jobs.collect();
        if self.defect != Some(Defect::KeptJobs) {
            jobs.iter().for_each(|job| self.office.print(job));
        }
        self.network.run(now, &mut self.rng, &mut self.figures)
    }

    /// Delivers what connections do to each other.
    fn wake(&mut self) -> Result<(), String> {
        for _ in 0..AT_ONCE_MAX {
            let mut woken = self
                .machines
                .iter_mut()
                .filter(|machine| machine.is_woken());
            let Some(machine) = woken.next() else {
                return Ok(());
            };
            machine.wake(self.now, &mut self.figures)?;
        }
        Err("connections wake each other for ever".into())
    }

    /// No wait is overdue.
    fn deadlines(&self) -> Result<(), String> {
        let deadline = self.office.server.locked(|tables| tables.next_deadline());
        match deadline.filter(|deadline| deadline.0 < self.now) {
            None => Ok(()),
            Some(deadline) => {
                let late = self.now - deadline.0;
                Err(format!("a deadline of the tables is {late} ns late"))
            }
        }
    }
}
