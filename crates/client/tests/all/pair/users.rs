//! Users, and servers that require them.

use super::{Arc, Config, Pair, Profile, Server, Target, profile};
use coax_logon::{accounts::User, policy::Policy, text::Ascii};
use coax_server::{config::MapToGuest, share::Admission};

pub const PASSWORD: &str = "Secret9";

/// Refuses everything that is not configured.
pub const NOTHING: Policy = Policy {
    lanman: false,
    ntlm_v1: false,
    plaintext: false,
    null_passwords: false,
};

/// Accepts users only.
pub fn strict(policy: Policy) -> Config {
    Config {
        policy,
        map_to_guest: MapToGuest::Never,
        ..Config::default()
    }
}

/// Adds the user `ann`; guests have no access.
pub fn with_ann(server: &mut Server) {
    let ann = User::with_password("ann", PASSWORD, &Ascii);
    server.accounts.add(ann).unwrap();
    admit(server, Admission::default());
}

pub fn admit(server: &mut Server, admission: Admission) {
    for share in &mut server.shares {
        Arc::make_mut(share).admission = admission.clone();
    }
}

pub fn as_ann(target: &mut Target) {
    target.credentials.user = "ann".into();
    target.credentials.password = PASSWORD.into();
    target.credentials.allow_weak = false;
}

pub fn ann(profile: Arc<Profile>, config: Config) -> Pair {
    Pair::serving(profile, config, with_ann, as_ann)
}

pub fn edited(name: &str, edit: impl FnOnce(&mut Profile)) -> Arc<Profile> {
    let mut profile = profile(name);
    edit(Arc::make_mut(&mut profile));
    profile
}

/// Messages of the client with this command.
pub fn requests(pair: &Pair, command: u8) -> Vec<&[u8]> {
    let sent = pair.messages.iter().filter(|(ours, _)| *ours);
    sent.map(|(_, message)| message.as_slice())
        .filter(|message| message.get(4) == Some(&command))
        .collect()
}
