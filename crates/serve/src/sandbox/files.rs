//! Landlock: the kernel refuses to open, create, rename or delete anything outside the policy's folders.
//!
//! Landlock version 1 (Linux 5.13 to 5.18) forbids every rename from one folder to another, which clients need; it is used
//! from version 2 (Linux 5.19) on. See the kernel's documentation, userspace-api/landlock.

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
};

use super::policy::{Policy, Rights};

/// The newest version whose rights this program has been written against; older kernels enforce what they know.
const NEWEST: ABI = ABI::V5;

/// Restricts this thread, and those it starts, to the policy's files.
///
/// # Errors
/// Why it is not restricted.
pub(super) fn restrict(policy: &Policy) -> Result<String, String> {
    if let Some(share) = &policy.unconfined_share {
        return Err(format!(
            "limits on files (share {share} has 'wide links = yes', so links may lead anywhere)"
        ));
    }
    match confine(policy) {
        Ok(RulesetStatus::NotEnforced) => {
            Err("limits on files (this kernel has no Landlock)".into())
        }
        Ok(_) => Ok(format!(
            "files limited to {} folders by Landlock",
            policy.paths.len()
        )),
        Err(error) => Err(format!(
            "limits on files (Landlock of Linux 5.19 or later is needed: {error})"
        )),
    }
}

fn confine(policy: &Policy) -> Result<RulesetStatus, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::Refer)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .create()?;
    for (path, rights) in &policy.paths {
        // A missing path needs no rule: it cannot be opened anyway.
        let Ok(file) = PathFd::new(path) else {
            continue;
        };
        let is_folder = path.is_dir();
        rules = rules.add_rule(PathBeneath::new(file, allowed(*rights, is_folder)))?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

fn allowed(rights: Rights, is_folder: bool) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    let granted = match rights {
        Rights::Read => read,
        Rights::Write => read | (AccessFs::from_write(NEWEST) & !devices),
    };
    match is_folder {
        true => granted,
        false => granted & AccessFs::from_file(NEWEST),
    }
}
