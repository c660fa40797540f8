//! What will be written, the writing, and what to do then.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use coax_doctor::access::Account;
use coax_serve::prepare;
use coax_setup::{
    answers::Answers,
    plan::{Plan, replaces_own},
    site::Site,
    transaction::{Change, Failed, New, Transaction},
    users::{NewUser, enter},
};
use coax_smbconf::{diagnostic::Severity, load::load};

use super::arguments::{SetupArgs, Stop};

/// What will be written, for a person to read.
pub(super) fn shown(site: &Site, plan: &Plan, new_users: &[String]) -> String {
    let mut out = String::new();
    if let Some(folder) = &plan.new_folder {
        out.push_str(&format!("\nnew folder {}\n", folder.display()));
    }
    out.push_str(&file(&site.config, &plan.config));
    if !plan.users.is_empty() {
        out.push_str(&format!("\n{}\n", site.users().display()));
        for user in &plan.users {
            let what = match new_users.contains(user) {
                true => "gets a password",
                false => "keeps the password",
            };
            out.push_str(&format!("    {user}: {what}\n"));
        }
    }
    match (&site.drop_in, &plan.drop_in) {
        (Some(path), Some(text)) => out.push_str(&file(path, text)),
        (Some(path), None) if path.exists() => {
            out.push_str(&format!(
                "\n{} is removed: its settings are not needed\n",
                path.display()
            ));
        }
        _ => {}
    }
    if !plan.remarks.is_empty() {
        out.push('\n');
    }
    for remark in &plan.remarks {
        out.push_str(&format!("note: {remark}\n"));
    }
    out
}

fn file(path: &Path, text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| format!("    {line}").trim_end().to_owned() + "\n");
    format!("\n{}\n{}", path.display(), lines.collect::<String>())
}

/// Writes everything, checks it, and restarts the service. If a step fails, everything is as before. Says where old files stay.
///
/// # Errors
/// Which step, and why.
pub(super) fn write(
    args: &SetupArgs,
    site: &Site,
    plan: &Plan,
    users: &[NewUser],
) -> Result<Vec<PathBuf>, Stop> {
    let mut transaction = Transaction::default();
    let account = site.account.as_ref();
    let owner = account.map(owner);
    if let Some(folder) = &plan.new_folder {
        transaction.folder(folder, 0o755, owner).map_err(refused)?;
    }
    let folders = [
        Some(site.config.as_path()),
        site.drop_in.as_deref().filter(|_| plan.drop_in.is_some()),
    ];
    for folder in folders.into_iter().flatten().filter_map(Path::parent) {
        transaction.folder(folder, 0o755, None).map_err(refused)?;
    }
    let enter = |copy: &Path| enter(copy, users, plan.lm).map_err(|error| error.to_string());
    transaction
        .files(changes(site, plan, owner, users, &enter))
        .map_err(refused)?;
    check(site)?;
    let restarts = site.starts && !args.no_start;
    if restarts && let Err(why) = restart() {
        drop(transaction);
        // the old configuration served before
        let _ = restart();
        let help = "'journalctl -u coax -n 20' and 'sudo coax doctor' say more".to_owned();
        return Err(Stop::Failed(
            format!("the service does not start with the new configuration: {why}"),
            Some(help),
        ));
    }
    Ok(transaction.commit())
}

fn owner(account: &Account) -> (u32, u32) {
    (
        account.user,
        account.groups.first().copied().unwrap_or(account.user),
    )
}

fn changes<'a>(
    site: &Site,
    plan: &'a Plan,
    owner: Option<(u32, u32)>,
    users: &[NewUser],
    enter: &'a dyn Fn(&Path) -> Result<(), String>,
) -> Vec<Change<'a>> {
    let mut changes = vec![Change {
        path: site.config.clone(),
        new: New::Text(&plan.config),
        mode: 0o644,
        owner: None,
        keep: replaces_own(&site.config, plan),
    }];
    if !users.is_empty() {
        changes.push(Change {
            path: site.users(),
            new: New::Changed(enter),
            mode: 0o600,
            owner,
            keep: false,
        });
    }
    if let Some(path) = &site.drop_in {
        changes.push(Change {
            path: path.clone(),
            new: plan.drop_in.as_deref().map_or(New::Gone, New::Text),
            mode: 0o644,
            owner: None,
            keep: false,
        });
    }
    changes
}

fn refused(failed: Failed) -> Stop {
    let Failed { what, path, why } = failed;
    let help = match rustix::process::geteuid().is_root() {
        true => "check that the file system is not full or mounted read-only".to_owned(),
        false => "run coax setup with sudo, or name another file with --config".to_owned(),
    };
    Stop::Failed(
        format!("cannot {what} {}: {why}", path.display()),
        Some(help),
    )
}

/// What is on disk now must serve.
fn check(site: &Site) -> Result<(), Stop> {
    let loaded = load(Some(&site.config), &[]);
    let mut said = loaded.diagnostics;
    said.extend(prepare::check(&loaded.settings));
    let error = said
        .into_iter()
        .find(|said| said.severity == Severity::Error);
    error.map_or(Ok(()), |error| {
        Err(Stop::Failed(
            format!("the server would not start: {}", error.message),
            error.help,
        ))
    })
}

/// Restarts the service with its new settings; systemd answers when it serves.
fn restart() -> Result<(), String> {
    for arguments in [
        &["daemon-reload"][..],
        &["reset-failed", "coax"],
        &["restart", "coax"],
    ] {
        let ran = Command::new("systemctl").args(arguments).output();
        let done = ran.map_err(|error| format!("systemctl: {error}"))?;
        // a unit that did not fail cannot be reset
        if !done.status.success() && arguments.first() != Some(&"reset-failed") {
            let text = String::from_utf8_lossy(&done.stderr).into_owned();
            return Err(text.lines().next().unwrap_or("systemctl failed").to_owned());
        }
    }
    Ok(())
}

/// What was done, and what to do now.
pub(super) fn done(
    args: &SetupArgs,
    site: &Site,
    answers: &Answers,
    plan: &Plan,
    kept: &[PathBuf],
) -> String {
    let settings = load(Some(&site.config), &[]).settings;
    let name = &settings.global.netbios_name;
    let mut out = String::new();
    match (site.drop_in.is_some(), site.starts && !args.no_start) {
        (true, true) => out.push_str("\nThe service runs with the new configuration.\n"),
        (true, false) => out.push_str("\nWritten. To serve: sudo systemctl restart coax\n"),
        (false, _) => out.push_str("\nWritten.\n"),
    }
    for kept in kept {
        out.push_str(&format!("The old file stays as {}\n", kept.display()));
    }
    out.push_str(&format!(
        "On DOS, Windows and OS/2: NET USE X: \\\\{name}\\{}\n",
        answers.share
    ));
    if plan.new_folder.is_some() || answers.writers == coax_setup::answers::Writers::Nobody {
        out.push_str(&format!(
            "Files for them belong into {}\n",
            answers.folder.display()
        ));
    }
    out.push_str(
        "'sudo coax doctor' checks this machine and its network; 'coax user' changes passwords.\n",
    );
    out
}
