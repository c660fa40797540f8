//! `coax lab import`: a scenario from the files of real machines.

use std::{fmt::Write as _, fs, path::PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use coax_report::files::write_whole;
use coax_settings::{Effect, File, Import, Line, Role};
use serde_json::{Value, json};

/// The files of the machines.
#[derive(Debug, Args)]
pub struct MachineFiles {
    /// Files of the client; smb.conf and sysctl values are the server's
    #[arg(required_unless_present = "server", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A file of the server, such as the registry of an NT server
    #[arg(long, value_name = "FILE")]
    server: Vec<PathBuf>,
    /// The redirector profile of the client [default: what the files suggest]
    #[arg(long, value_name = "PROFILE")]
    pub(super) client: Option<String>,
}

impl MachineFiles {
    /// Reads them all.
    pub(super) fn read(&self) -> Result<Import> {
        let mut import = Import::default();
        let given = self.files.iter().map(|path| (path, None));
        let servers = self.server.iter().map(|path| (path, Some(Role::Server)));
        for (path, role) in given.chain(servers) {
            let bytes =
                fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let file = File::parse(&path.display().to_string(), &bytes)?;
            import.add_as(&file, role);
        }
        Ok(import)
    }

    /// The scenario's title.
    pub(super) fn title(&self) -> String {
        let names = self.files.iter().chain(&self.server);
        let names: Vec<_> = names
            .filter_map(|path| path.file_name()?.to_str())
            .collect();
        format!("Settings of {}", names.join(", "))
    }
}

/// Arguments of `coax lab import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Files: PROTOCOL.INI, SYSTEM.INI, NETWORK.INI, TCPUTILS.INI, .reg exports of Windows 9x, NT, 2000 and XP, smb.conf, \
    sysctl.conf or the output of 'sysctl -a'.\n\n\
    Example: coax lab import PROTOCOL.INI SYSTEM.INI smb.conf --out mine.toml && coax lab run mine.toml"
)]
pub struct ImportArgs {
    #[command(flatten)]
    machines: MachineFiles,
    /// Write the scenario into this file
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Reads the files and writes the scenario. Returns what is to be printed, and whether every line could be used.
pub(super) fn import(args: &ImportArgs) -> Result<(String, bool)> {
    let import = args.machines.read()?;
    let client = args.machines.client.as_deref();
    let scenario = match import.scenario(&args.machines.title(), client) {
        Ok(text) => text,
        Err(why) => bail!("the lines make no scenario: {why}"),
    };
    if let Some(out) = &args.out {
        write_whole(out, scenario.as_bytes())?;
    }
    let text = match args.json {
        true => format!("{:#}\n", as_json(&import, &scenario)),
        false => text(&import, &scenario, args),
    };
    let is_wrong = |line: &Line| matches!(line.effect, Effect::Wrong(_));
    Ok((text, !import.lines().iter().any(is_wrong)))
}

fn text(import: &Import, scenario: &str, args: &ImportArgs) -> String {
    let mut text = String::new();
    for line in import.lines() {
        let advice = line.advice.map_or(String::new(), |advice| {
            format!("    Usually best: {advice}.\n")
        });
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {}\n    {}\n{advice}    {}\n    Source: {}.\n",
            line.place,
            line.text,
            line.meaning,
            effect(line),
            line.source
        );
    }
    let _ = writeln!(
        text,
        "{} other lines have no known effect on speed.",
        import.others()
    );
    if let Some(profile) = import.profile().filter(|_| args.machines.client.is_none()) {
        let _ = writeln!(
            text,
            "The files suggest the client {profile}; --client names another."
        );
    }
    let _ = match &args.out {
        Some(out) => writeln!(
            text,
            "Scenario: {0}. Run it: coax lab run {0}",
            out.display()
        ),
        None => write!(text, "\n{scenario}"),
    };
    text
}

fn effect(line: &Line) -> String {
    match &line.effect {
        Effect::Sets { values, assumed } => {
            let values: Vec<String> = values
                .iter()
                .map(|(path, value)| format!("{path} = {value}"))
                .collect();
            let assumed = if *assumed { " (assumed)" } else { "" };
            format!("Scenario: {}{assumed}", values.join(", "))
        }
        Effect::Selects(profile) => format!("Scenario: client {profile}"),
        Effect::Nothing => "Scenario: nothing; the lab does not model it.".into(),
        Effect::Wrong(why) => format!("Ignored: {why}."),
    }
}

fn as_json(import: &Import, scenario: &str) -> Value {
    let lines: Vec<Value> = import
        .lines()
        .iter()
        .map(|line| {
            let (values, profile, wrong) = match &line.effect {
                Effect::Sets { values, .. } => (values.as_slice(), None, None),
                Effect::Selects(profile) => (&[][..], Some(profile), None),
                Effect::Nothing => (&[][..], None, None),
                Effect::Wrong(why) => (&[][..], None, Some(why)),
            };
            let values: serde_json::Map<_, _> =
                values.iter().map(|(path, value)| (path.clone(), json!(value.to_string()))).collect();
            json!({
                "place": line.place, "line": line.text, "meaning": line.meaning, "advice": line.advice, "source": line.source,
                "sets": values, "client": profile, "wrong": wrong,
            })
        })
        .collect();
    json!({ "lines": lines, "others": import.others(), "client": import.profile(), "scenario": scenario })
}
