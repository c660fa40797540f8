//! Giving up root's rights once the ports are bound.

use std::ffi::CString;

use nix::unistd::{Gid, Uid, User, geteuid, getgrouplist, setgroups, setresgid, setresuid, setuid};

/// The account that the server switches to. It is looked up before the sandbox is applied, which hides the user database.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    name: String,
    user: Uid,
    group: Gid,
    groups: Vec<Gid>,
}

impl Account {
    /// Looks up the account that `coax:user` names.
    ///
    /// # Errors
    /// There is no such user, or this process may not become it.
    pub(crate) fn find(name: &str) -> Result<Self, String> {
        let user = match User::from_name(name) {
            Ok(Some(user)) => user,
            Ok(None) => {
                return Err(format!(
                    "there is no user {name:?} ('coax:user'); create it with 'useradd --system {name}'"
                ));
            }
            Err(error) => {
                return Err(format!(
                    "cannot look up user {name:?} ('coax:user'): {error}"
                ));
            }
        };
        if geteuid() != user.uid && !geteuid().is_root() {
            return Err(format!(
                "cannot run as {name} ('coax:user'): only root can become another user; start coax as root or as {name}"
            ));
        }
        let account = CString::new(name).map_err(|error| error.to_string())?;
        let groups = getgrouplist(&account, user.gid)
            .map_err(|error| format!("cannot look up the groups of {name}: {error}"))?;
        Ok(Self {
            name: user.name,
            user: user.uid,
            group: user.gid,
            groups,
        })
    }

    /// Switches the whole process to this user, with the user's groups and without capabilities.
    ///
    /// # Errors
    /// The process cannot give up its privileges; the server must not continue.
    pub(crate) fn assume(&self) -> Result<(), String> {
        if geteuid() == self.user {
            return Ok(());
        }
        let refused =
            |what: &str, error: nix::Error| format!("cannot run as {}: {what}: {error}", self.name);
        setgroups(&self.groups).map_err(|e| refused("its groups", e))?;
        setresgid(self.group, self.group, self.group).map_err(|e| refused("its group", e))?;
        setresuid(self.user, self.user, self.user).map_err(|e| refused("its user number", e))?;
        if setuid(Uid::from_raw(0)).is_ok() {
            return Err(format!(
                "root's rights came back after becoming {}",
                self.name
            ));
        }
        Ok(())
    }

    /// The user's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_unknown_user_is_refused_with_the_command_that_creates_it() {
        let error = Account::find("no-such-user-here").unwrap_err();
        assert!(
            error.contains("useradd --system no-such-user-here"),
            "{error}"
        );
    }
}
