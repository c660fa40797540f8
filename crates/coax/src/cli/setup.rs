//! `coax setup`: four questions, then smb.conf, users and settings of the service.

mod arguments;
mod ask;
mod write;

pub use arguments::SetupArgs;

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use coax_setup::{
    Wrong,
    answers::{self, Answers, Machine, Writers},
    plan::{Plan, plan, replaces_own},
    site::Site,
    transaction::kept_as,
    users::{NewUser, has_lm_hash, known},
};
use coax_smbconf::share_argument::share_name;

use super::{
    credentials::{UserArg, complete},
    output::{WrongUsage, print},
};
use arguments::Stop;
use ask::{Asking, Question};

/// The folder of the packages.
const FOLDER: &str = "/srv/coax";

/// Asks, shows and writes.
///
/// # Errors
/// An option is wrong, or missing without a terminal.
pub fn main(args: &SetupArgs) -> Result<ExitCode, WrongUsage> {
    let config = std::path::absolute(&args.config).unwrap_or(args.config.clone());
    let site = Site::here(&config);
    let talks = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let answers = match answers(args, &site, talks)? {
        Some(answers) => answers,
        None => return Ok(stopped(Stop::Declined)),
    };
    let plan = plan(&answers, &site).map_err(|wrong| usage(wrong, ""))?;
    Ok(match set_up(args, &site, &answers, &plan, talks) {
        Ok(code) => code,
        Err(stop) => stopped(stop),
    })
}

fn stopped(stop: Stop) -> ExitCode {
    match stop {
        Stop::Declined => eprintln!("nothing is changed"),
        Stop::Failed(why, help) => {
            eprintln!("error: {why}; nothing is changed");
            if let Some(help) = help {
                eprintln!("  = help: {help}");
            }
        }
    }
    ExitCode::FAILURE
}

/// The answers: of options, else of the person at the terminal, else defaults. `None`: the person gave up.
fn answers(args: &SetupArgs, site: &Site, talks: bool) -> Result<Option<Answers>, WrongUsage> {
    if !talks {
        let missing = [
            ("--folder", args.folder.is_none()),
            ("--write", args.write.is_none()),
        ];
        let missing: Vec<&str> = missing
            .iter()
            .filter(|(_, is)| *is)
            .map(|(name, _)| *name)
            .collect();
        if let Some(first) = missing.first() {
            let message = format!(
                "without a terminal, nobody can be asked for {}",
                missing.join(" and ")
            );
            let example = match *first {
                "--folder" => "--folder /srv/coax --write nobody",
                _ => "--write nobody",
            };
            return Err(WrongUsage::new("setup", message).help(format!("add {example}")));
        }
    }
    let mut asking = Asking::new(talks);
    let first = Question {
        title: "Which folder shall old machines see?",
        hints: &[],
        default: FOLDER,
    };
    let Some(folder) = one(&mut asking, &first, &args.folder, |text| {
        answers::folder(text, site)
    })?
    else {
        return Ok(None);
    };
    let second = Question {
        title: "Who may write there? Everybody may read.",
        hints: &["nobody, everybody, or user names such as anna,bob (with passwords)".to_owned()],
        default: "nobody",
    };
    let writers = |text: &str| {
        let writers = answers::writers(text)?;
        answers::writable(&folder, &writers, site)?;
        Ok(writers)
    };
    let Some(writers) = one(&mut asking, &second, &args.write, writers)? else {
        return Ok(None);
    };
    rest(args, site, asking, folder, writers)
}

fn rest(
    args: &SetupArgs,
    site: &Site,
    mut asking: Asking,
    folder: PathBuf,
    writers: Writers,
) -> Result<Option<Answers>, WrongUsage> {
    let kinds = Machine::ALL.map(|(_, name, what)| format!("{name:<10} {what}"));
    let third = Question {
        title: "Which machines will connect?",
        hints: &kinds,
        default: Machine::DEFAULT,
    };
    let Some(machines) = one(&mut asking, &third, &args.machines, answers::machines)? else {
        return Ok(None);
    };
    let fourth = Question {
        title: "On which network are they?",
        hints: &[answers::interfaces_listed(site)],
        default: "all",
    };
    let network = |text: &str| answers::network(text, &machines, site);
    let Some(network) = one(&mut asking, &fourth, &args.network, network)? else {
        return Ok(None);
    };
    let last = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(Some(Answers {
        share: args
            .share
            .clone()
            .unwrap_or_else(|| named_after(&folder, &last)),
        folder,
        writers,
        machines,
        network,
        name: args.name.clone(),
        workgroup: args.workgroup.clone().unwrap_or_else(|| "WORKGROUP".into()),
        no_guests: args.no_guests,
    }))
}

/// The packages' folder has the packages' share.
fn named_after(folder: &Path, last: &str) -> String {
    match folder == Path::new(FOLDER) {
        true => "PUBLIC".into(),
        false => share_name(last),
    }
}

/// One answer. A wrong option is wrong usage; a wrong word at the terminal is asked for again.
fn one<T>(
    asking: &mut Asking,
    question: &Question<'_>,
    option: &Option<String>,
    read: impl Fn(&str) -> Result<T, Wrong>,
) -> Result<Option<T>, WrongUsage> {
    match option {
        Some(text) => read(text).map(Some).map_err(|wrong| usage(wrong, text)),
        None if asking.talks => Ok(asking.ask(question, read)),
        None => read(question.default)
            .map(Some)
            .map_err(|wrong| usage(wrong, "")),
    }
}

fn usage(wrong: Wrong, at: &str) -> WrongUsage {
    WrongUsage::new("setup", wrong.what).at(at).help(wrong.fix)
}

fn set_up(
    args: &SetupArgs,
    site: &Site,
    answers: &Answers,
    plan: &Plan,
    talks: bool,
) -> Result<ExitCode, Stop> {
    let replaces = replaces_own(&site.config, plan);
    let new_users = without_password(plan, site)?;
    print(&write::shown(site, plan, &new_users));
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let mut asking = Asking::new(talks);
    if replaces && !args.overwrite {
        let config = site.config.display();
        let kept = kept_as(&site.config).unwrap_or_default();
        let kept = kept.display();
        let yes = talks
            && asking.confirm(
                &format!("{config} exists. Replace it, and keep it as {kept}?"),
                false,
            );
        if !yes && !talks {
            let help = format!("--overwrite replaces it and keeps the old one as {kept}");
            return Err(Stop::Failed(format!("{config} exists"), Some(help)));
        }
        if !yes {
            return Err(Stop::Declined);
        }
    } else if talks && !asking.confirm("Write this?", true) {
        return Err(Stop::Declined);
    }
    let users = passwords(new_users, args.password_stdin, plan.lm)?;
    let kept = write::write(args, site, plan, &users)?;
    print(&write::done(args, site, answers, plan, &kept));
    Ok(ExitCode::SUCCESS)
}

/// Users who cannot log on yet from all machines that will connect.
fn without_password(plan: &Plan, site: &Site) -> Result<Vec<String>, Stop> {
    if plan.users.is_empty() {
        return Ok(Vec::new());
    }
    let known = known(&site.users(), plan.lm).map_err(|error| {
        Stop::Failed(error.to_string(), Some("run coax setup with sudo".into()))
    })?;
    let is_known = |name: &String| known.iter().any(|other| other.eq_ignore_ascii_case(name));
    Ok(plan
        .users
        .iter()
        .filter(|name| !is_known(name))
        .cloned()
        .collect())
}

fn passwords(names: Vec<String>, from_stdin: bool, lm: bool) -> Result<Vec<NewUser>, Stop> {
    let mut users: Vec<UserArg> = names.iter().map(|name| UserArg::new(name)).collect();
    complete(&mut users, from_stdin).map_err(|why| Stop::Failed(why, None))?;
    let users = users.into_iter().map(|user| {
        let password = user.password.filter(|password| !password.is_empty());
        let missing = || Stop::Failed(format!("the password of {} is empty", user.name), None);
        let password = password.ok_or_else(missing)?;
        if lm && !has_lm_hash(&password) {
            let why = format!(
                "DOS and Windows 9x cannot send the password of {}",
                user.name
            );
            let help = "choose at most 14 letters and digits, or leave dos out of --machines";
            return Err(Stop::Failed(why, Some(help.into())));
        }
        Ok(NewUser {
            password,
            name: user.name.clone(),
        })
    });
    users.collect()
}
