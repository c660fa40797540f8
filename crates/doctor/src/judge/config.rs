//! smb.conf, as `coax serve --check` sees it.

use coax_smbconf::diagnostic::{Diagnostic, Severity as Said};

use crate::{
    facts::Facts,
    finding::{Check, Finding, Severity},
};

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    let config = &facts.config;
    let before = all.len();
    all.extend(config.diagnostics.iter().map(finding));
    let global = &config.settings.global;
    if global.netbios_name.eq_ignore_ascii_case(&global.workgroup) {
        let what = format!(
            "server and workgroup have the same name {}",
            global.workgroup
        );
        all.push(
            Finding::new(Severity::Error, Check::Config, what)
                .why("a NetBIOS name is either unique or a group: the server cannot register it")
                .fix("[global] netbios name = ANOTHER-NAME"),
        );
    }
    let is_bad = |finding: &Finding| finding.severity <= Severity::Warning;
    if all.iter().skip(before).any(is_bad) {
        return;
    }
    let what = match &config.path {
        Some(path) => format!("{} has no mistakes", path.display()),
        None => "no smb.conf: the defaults of 'coax serve' are checked".into(),
    };
    let severity = match config.path {
        Some(_) => Severity::Ok,
        None => Severity::Note,
    };
    let found = Finding::new(severity, Check::Config, what);
    all.push(match config.path {
        Some(_) => found,
        None => found.fix("sudo coax setup writes one; --config names another"),
    });
}

fn finding(said: &Diagnostic) -> Finding {
    let severity = match said.severity {
        Said::Error => Severity::Error,
        Said::Warning => Severity::Warning,
        Said::Note => Severity::Note,
    };
    Finding {
        place: said
            .at
            .as_ref()
            .map(|at| format!("{at}: {}", at.text.trim())),
        fix: said.help.clone(),
        ..Finding::new(severity, Check::Config, said.message.clone())
    }
}
