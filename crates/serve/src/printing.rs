//! `print command`: runs a command for each complete print job.
//!
//! One thread runs the commands of all printers, one after the other in the order of the jobs, so that a client never
//! waits for a printer and a thousand jobs are not a thousand processes. It runs `message command` and `wins hook` in turn
//! with them. Strings from the client reach the shell as
//! single words ([`expand_command`]).

use std::{path::Path, sync::Arc};

use coax_netbios::WinsEvent;

use super::{
    command_queues::{CommandQueues, Kind, WAITING, Waiting},
    commands::{Order, Runner},
    message_files::MessageFiles,
    report::Reporter,
    share_path,
};
use coax_smbconf::{
    macros::{MacroValues, expand_command, one_word},
    settings::Settings,
};

/// A finished job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// The printer's share.
    pub(super) share: &'a str,
    /// Its file, relative to the share's folder.
    pub(super) path: &'a str,
    /// The job's name from the client.
    pub(super) name: &'a str,
}

/// Whether any share, the WINS server or the messenger has a command to run.
pub(super) fn is_needed(settings: &Settings) -> bool {
    let mut shares = settings.shares.iter();
    shares.any(|share| share.printable && !share.print_command.is_empty())
        || !settings.global.netbios.wins_hook.is_empty()
        || !settings.global.netbios.message_command.is_empty()
}

/// Queues finished jobs.
#[derive(Debug)]
pub(super) struct Printing {
    queues: Option<Arc<CommandQueues>>,
    files: MessageFiles,
}

impl Printing {
    /// Starts the thread, if any share has a command; `runner` runs it.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(super) fn start(
        settings: &Settings,
        reporter: &Reporter,
        runner: Runner,
    ) -> std::io::Result<Self> {
        let mut queues = None;
        if is_needed(settings) {
            let waiting = Arc::new(CommandQueues::default());
            let (reporter, shared) = (reporter.clone(), waiting.clone());
            std::thread::Builder::new()
                .name("coax-print".into())
                .spawn(move || run_all(&shared, &runner, &reporter))?;
            queues = Some(waiting);
        }
        Ok(Self {
            queues,
            files: MessageFiles::new(),
        })
    }

    /// Whether commands can be run.
    pub(super) fn runs(&self) -> bool {
        self.queues.is_some()
    }

    /// The files for the texts of messages.
    pub(super) fn message_files(&self) -> &MessageFiles {
        &self.files
    }

    /// Queues the command for a message.
    ///
    /// # Errors
    /// The queue is full.
    pub(super) fn queue_message(&self, order: Order) -> Result<(), String> {
        let what = "the message command".into();
        self.push(Kind::Message, order, what).map_err(full)
    }

    /// Queues the hook for a change of a WINS record, unless `order` makes none.
    ///
    /// # Errors
    /// The queue is full.
    pub(super) fn queue_hook(
        &self,
        event: WinsEvent,
        order: impl Fn(&WinsEvent) -> Option<Order>,
    ) -> Result<(), String> {
        let queues = self.queues.as_ref();
        let is_taken = queues.is_none_or(|queues| queues.push_hook(event, order));
        is_taken.then_some(()).ok_or_else(|| full(()))
    }

    /// Queues the share's command for a job from `client`.
    ///
    /// # Errors
    /// The queue is full. A share without a command keeps its jobs in the folder, which is not an error.
    pub(super) fn take(
        &self,
        settings: &Settings,
        job: Job<'_>,
        client: &MacroValues<'_>,
    ) -> Result<(), String> {
        let mut shares = settings.shares.iter();
        let share = shares.find(|share| share.name == job.share);
        let share = share.filter(|share| share.printable && !share.print_command.is_empty());
        let Some(share) = share else {
            return Ok(());
        };
        let folder = share_path::path(settings, share).map_err(|error| error.to_string())?;
        let line = command_line(&share.print_command, &folder, job, client);
        let order = Order {
            line,
            folder,
            file: None,
        };
        let what = format!("the print command for {} on {}", job.path, job.share);
        let too_many =
            |()| format!("{WAITING} jobs wait for their print command; this one is left");
        self.push(Kind::Print, order, what).map_err(too_many)
    }

    /// Names of the commands that run or wait, oldest first.
    pub(super) fn waiting(&self) -> Vec<String> {
        let queues = self.queues.as_ref();
        queues.map(|queues| queues.names()).unwrap_or_default()
    }

    fn push(&self, kind: Kind, order: Order, what: String) -> Result<(), ()> {
        let command = Waiting { kind, order, what };
        let queues = self.queues.as_ref();
        let is_taken = queues.is_none_or(|queues| queues.push(command));
        is_taken.then_some(()).ok_or(())
    }
}

impl Drop for Printing {
    fn drop(&mut self) {
        if let Some(queues) = &self.queues {
            queues.end();
        }
    }
}

fn full((): ()) -> String {
    format!("{WAITING} commands wait already")
}

/// The command with its macros expanded: those of the job are `%s` (its file), `%f` (the file's name alone), `%p` (the
/// printer), `%J` (what the client called it) and `%z` (its length, bytes).
fn command_line(command: &str, folder: &str, job: Job<'_>, client: &MacroValues<'_>) -> String {
    // A relative folder may begin with a dash; the command gets an absolute path, as from Samba.
    let file = Path::new(folder).join(job.path);
    let file = std::path::absolute(&file).unwrap_or(file);
    let size = std::fs::metadata(&file).map_or(0, |found| found.len());
    let (file, size) = (file.display().to_string(), size.to_string());
    let (printer, name) = (one_word(job.share), one_word(job.name));
    let file_name = one_word(job.path);
    let further = [
        ('s', file.as_str()),
        ('f', &file_name),
        ('p', &printer),
        ('J', &name),
        ('z', &size),
    ];
    let values = MacroValues {
        share: job.share,
        share_path: folder,
        further: &further,
        ..client.clone()
    };
    expand_command(command, &values)
}

fn run_all(queues: &CommandQueues, runner: &Runner, reporter: &Reporter) {
    while let Some(command) = queues.take() {
        let Err(why) = runner.run(&command.order) else {
            continue;
        };
        let text = format!("{} {why}", command.what);
        match command.kind {
            Kind::Print => reporter.notice(text),
            Kind::Message | Kind::Hook => reporter.notice_repeated(text),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::{
        thread::sleep,
        time::{Duration, Instant},
    };

    use super::*;
    use coax_smbconf::load::load_text;

    const LOOK: Duration = Duration::from_millis(20);

    fn printed(command: &str, name: &str, client: &MacroValues<'_>) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job-001.prn"), b"page").unwrap();
        let path = folder.path().display();
        let conf = format!(
            "[LP]\npath = {path}\nprintable = yes\nprint command = {command} && touch done\n"
        );
        let settings = load_text("test", &conf).settings;
        let reporter = Reporter::to(|_| {}).unwrap();
        let printing = Printing::start(&settings, &reporter, Runner::Here).unwrap();
        let job = Job {
            share: "LP",
            path: "job-001.prn",
            name,
        };
        printing.take(&settings, job, client).unwrap();
        let first = printing.waiting();
        assert!(first.len() <= 1, "{first:?}");
        let until = Instant::now() + Duration::from_secs(20);
        while !folder.path().join("done").exists() {
            assert!(Instant::now() < until, "the command did not run");
            sleep(LOOK);
        }
        while !printing.waiting().is_empty() {
            assert!(Instant::now() < until, "the command never ends");
            sleep(LOOK);
        }
        let out = std::fs::read_to_string(folder.path().join("out")).unwrap();
        (folder, out)
    }

    #[test]
    fn the_command_receives_the_job_s_file_name_and_user() {
        let client = MacroValues {
            user: "anna",
            client_name: "ATTIC",
            ..MacroValues::default()
        };
        let command = "cat %s > out; echo -%p-%J-%f-%z-%u-%m >> out";
        let (_folder, out) = printed(command, "letter", &client);
        assert_eq!(out, "page-LP-letter-job-001.prn-4-anna-attic\n");
    }

    #[test]
    fn no_string_from_a_client_becomes_a_command_option() {
        let hostile = "-rf";
        let client = MacroValues {
            user: hostile,
            client_name: hostile,
            called_name: hostile,
            client_kind: hostile,
            dialect: hostile,
            ..MacroValues::default()
        };
        let job = Job {
            share: hostile,
            path: "-rf-001.prn",
            name: hostile,
        };
        let letters = "sfpJmMLuUSaR".chars();
        for letter in letters {
            let line = command_line(&format!("%{letter}"), "-spool", job, &client);
            assert!(
                !line.starts_with('-') && !line.is_empty(),
                "%{letter}: {line}"
            );
        }
        let file = command_line("%s", "-spool", job, &client);
        assert!(
            file.starts_with('/') && file.ends_with("/-spool/-rf-001.prn"),
            "{file}"
        );
    }

    #[test]
    fn strings_from_a_client_execute_nothing_in_the_shell() {
        let client = MacroValues {
            user: "x; touch owned",
            client_name: "$(touch owned)",
            ..MacroValues::default()
        };
        let (folder, out) = printed("echo %J %u %m > out", "`touch owned`", &client);
        assert!(!folder.path().join("owned").exists());
        assert_eq!(out, "_touch_owned_ x__touch_owned __touch_owned_\n");
    }

    #[test]
    fn a_share_without_a_command_keeps_its_jobs_and_needs_no_thread() {
        let settings = load_text("test", "[LP]\npath = /\nprintable = yes\n").settings;
        let reporter = Reporter::to(|_| {}).unwrap();
        let printing = Printing::start(&settings, &reporter, Runner::Here).unwrap();
        assert!(printing.queues.is_none());
    }
}
