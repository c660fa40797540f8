//! The findings as text.

use coax_doctor::{Finding, Severity};
use coax_report::explain::words::harmless;

/// The findings, worst first, and how many there are of each severity.
pub(super) fn report(all: &[Finding]) -> String {
    let mut out = String::new();
    for finding in all {
        out.push_str(&one(finding));
    }
    let count = |severity| all.iter().filter(|f| f.severity == severity).count();
    let counted = [
        (count(Severity::Error), "error"),
        (count(Severity::Warning), "warning"),
        (count(Severity::Note), "note"),
    ];
    let counted = counted.map(|(count, word)| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    });
    let good = count(Severity::Ok);
    let summary = format!("\n{}; {good} good\n", counted.join(", "));
    out.push_str(&summary);
    out
}

fn one(finding: &Finding) -> String {
    let head = format!(
        "{}: {}: {}\n",
        finding.severity,
        finding.check,
        harmless(&finding.what)
    );
    if finding.severity == Severity::Ok {
        return head;
    }
    let parts = [
        (" -->", &finding.place),
        ("  = why:", &finding.why),
        ("  = fix:", &finding.fix),
    ];
    let lines = parts.into_iter().filter_map(|(mark, part)| {
        let part = harmless(part.as_deref()?).to_string();
        Some(format!("{mark} {part}\n"))
    });
    head + &lines.collect::<String>()
}

#[cfg(test)]
mod tests {
    use coax_doctor::finding::Check;

    use super::*;

    #[test]
    fn findings_read_like_diagnostics_and_names_cannot_control_the_terminal() {
        let all = [
            Finding::new(Severity::Error, Check::Ports, "smbd holds TCP port 445")
                .at("0.0.0.0:445")
                .why("coax needs it")
                .fix("stop \x1b[2J it"),
            Finding::new(Severity::Ok, Check::Clock, "the clock is right").at("here"),
        ];
        let text = report(&all);
        let start = "error: ports: smbd holds TCP port 445\n --> 0.0.0.0:445\n  = why: coax needs it\n  = fix: stop ";
        assert!(text.starts_with(start), "{text}");
        assert!(!text.contains('\x1b'));
        let end = "ok: clock: the clock is right\n\n1 error, 0 warnings, 0 notes; 1 good\n";
        assert!(text.ends_with(end), "{text}");
    }
}
