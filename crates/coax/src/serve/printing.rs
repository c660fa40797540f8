//! `print command`: what becomes of a print job once it is whole.
//!
//! One thread runs the commands of all printers, one after the other in the order of the jobs, so that a client never waits
//! for a printer and a thousand jobs are not a thousand processes. What a client said of itself reaches the shell as single
//! words ([`expand_command`]).

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::sleep,
    time::{Duration, Instant},
};

use super::{build, report::Reporter};
use crate::config::{
    macros::{MacroValues, expand_command, one_word},
    settings::Settings,
};

/// Jobs that wait for their command; those beyond stay in their folder.
const WAITING: usize = 1024;
/// A command that has not ended by then is killed, or no other job would ever be printed.
const LONGEST: Duration = Duration::from_secs(600);
/// How often a running command is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A finished job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// The printer's share.
    pub(super) share: &'a str,
    /// Its file, relative to the share's folder.
    pub(super) path: &'a str,
    /// What the client called it.
    pub(super) name: &'a str,
}

/// A command ready to run.
#[derive(Debug)]
struct Order {
    line: String,
    folder: String,
    job: String,
}

/// Where finished jobs go.
#[derive(Debug)]
pub(super) struct Printing {
    orders: Option<SyncSender<Order>>,
}

impl Printing {
    /// Starts the thread, if any share has a command.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start(settings: &Settings, reporter: &Reporter) -> std::io::Result<Self> {
        let mut shares = settings.shares.iter();
        if !shares.any(|share| share.printable && !share.print_command.is_empty()) {
            return Ok(Self { orders: None });
        }
        let (orders, queue) = sync_channel(WAITING);
        let reporter = reporter.clone();
        std::thread::Builder::new()
            .name("coax-print".into())
            .spawn(move || run_all(&queue, &reporter))?;
        Ok(Self {
            orders: Some(orders),
        })
    }

    /// Has the share's command run for a job, `client` being who sent it.
    ///
    /// # Errors
    /// Why it will not run: too many wait. A share without a command leaves its jobs where they are, which is no error.
    pub(super) fn take(
        &self,
        settings: &Settings,
        job: Job<'_>,
        client: &MacroValues<'_>,
    ) -> Result<(), String> {
        let mut shares = settings.shares.iter();
        let share = shares.find(|share| share.name == job.share);
        let share = share.filter(|share| share.printable && !share.print_command.is_empty());
        let (Some(share), Some(orders)) = (share, &self.orders) else {
            return Ok(());
        };
        let folder = build::path(settings, share).map_err(|error| error.to_string())?;
        let order = Order {
            line: command_line(&share.print_command, &folder, job, client),
            folder,
            job: format!("{} on {}", job.path, job.share),
        };
        let too_many = |_| format!("{WAITING} jobs wait for their print command; this one is left");
        orders.try_send(order).map_err(too_many)
    }
}

/// The command with its macros expanded: those of the job are `%s` (its file), `%f` (the file's name alone), `%p` (the
/// printer), `%J` (what the client called it) and `%z` (its length, bytes).
fn command_line(command: &str, folder: &str, job: Job<'_>, client: &MacroValues<'_>) -> String {
    let file = Path::new(folder).join(job.path);
    let size = std::fs::metadata(&file).map_or(0, |found| found.len());
    let (file, size) = (file.display().to_string(), size.to_string());
    let (printer, name) = (one_word(job.share), one_word(job.name));
    let further = [
        ('s', file.as_str()),
        ('f', job.path),
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

fn run_all(queue: &Receiver<Order>, reporter: &Reporter) {
    while let Ok(order) = queue.recv() {
        if let Err(why) = run(&order) {
            reporter.notice(format!("the print command for {} {why}", order.job));
        }
    }
}

fn run(order: &Order) -> Result<(), String> {
    let started = Command::new("/bin/sh")
        .args(["-c", &order.line])
        .current_dir(&order.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // A signal that a terminal sends to the server is not meant for a printer.
        .process_group(0)
        .spawn();
    let mut child = started.map_err(|error| format!("did not start: {error}"))?;
    match end_of(&mut child) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(format!("failed: {status}")),
        Ok(None) => Err(format!("took longer than {} s", LONGEST.as_secs())),
        Err(error) => Err(format!("cannot be waited for: {error}")),
    }
}

/// How it ended; `None` if it had to be killed.
fn end_of(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        sleep(LOOK);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::config::load::load_text;

    fn printed(command: &str, name: &str, client: &MacroValues<'_>) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job-001.prn"), b"page").unwrap();
        let path = folder.path().display();
        let conf = format!(
            "[LP]\npath = {path}\nprintable = yes\nprint command = {command} && touch done\n"
        );
        let settings = load_text("test", &conf).settings;
        let reporter = Reporter::to(|_| {}).unwrap();
        let printing = Printing::start(&settings, &reporter).unwrap();
        let job = Job {
            share: "LP",
            path: "job-001.prn",
            name,
        };
        printing.take(&settings, job, client).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while !folder.path().join("done").exists() {
            assert!(Instant::now() < until, "the command did not run");
            sleep(LOOK);
        }
        let out = std::fs::read_to_string(folder.path().join("out")).unwrap();
        (folder, out)
    }

    #[test]
    fn the_command_gets_the_job_s_file_and_name_and_whose_it_is() {
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
    fn what_a_client_says_of_itself_runs_nothing_in_the_shell() {
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
        let printing = Printing::start(&settings, &reporter).unwrap();
        assert!(printing.orders.is_none());
    }

    #[test]
    fn a_command_that_fails_is_told_with_its_job() {
        let order = Order {
            line: "exit 3".into(),
            folder: "/".into(),
            job: "x on LP".into(),
        };
        assert!(run(&order).unwrap_err().contains('3'));
    }
}
