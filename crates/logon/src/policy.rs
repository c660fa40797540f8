//! The accepted authentication methods, and the refusals for the others.

use thiserror::Error;

/// The methods that the configuration accepts. NTLMv2 and LMv2 are always accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// LM responses, which DOS and Windows 9x send (`lanman auth`).
    pub lanman: bool,
    /// NTLMv1 and NTLM2 session responses: NT, 2000, XP, consoles (`ntlm auth`).
    pub ntlm_v1: bool,
    /// Plaintext passwords (`encrypt passwords = no`, or `client plaintext auth` of the other side).
    pub plaintext: bool,
    /// Accounts that have no password at all (`null passwords`).
    pub null_passwords: bool,
}

impl Default for Policy {
    /// NTLMv1 and better.
    fn default() -> Self {
        Self {
            lanman: false,
            ntlm_v1: true,
            plaintext: false,
            null_passwords: false,
        }
    }
}

impl Policy {
    /// All methods, for networks of vintage machines.
    pub const fn anything() -> Self {
        Self {
            lanman: true,
            ntlm_v1: true,
            plaintext: true,
            null_passwords: true,
        }
    }

    /// Checks whether the method is accepted; otherwise returns the refusal.
    pub fn admit(&self, how: How) -> Result<(), Refusal> {
        match how {
            How::Lm if !self.lanman => Err(Refusal::LanmanNotAllowed),
            How::NtlmV1 | How::Ntlm2Session if !self.ntlm_v1 => Err(Refusal::NtlmV1NotAllowed),
            How::Plaintext if !self.plaintext => Err(Refusal::PlaintextNotAllowed),
            How::NoPassword if !self.null_passwords => Err(Refusal::NullPasswordsNotAllowed),
            _ => Ok(()),
        }
    }
}

/// The method that authenticated the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// An LM response.
    Lm,
    /// An NTLMv1 response, in either field.
    NtlmV1,
    /// An NTLMv2 response.
    NtlmV2,
    /// An LMv2 response.
    LmV2,
    /// An NTLM2 session response.
    Ntlm2Session,
    /// The password itself.
    Plaintext,
    /// The account has no password.
    NoPassword,
}

/// Why a log-on was refused. For the log only: on the wire all of these are a logon failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The password was right, but sent as an LM response.
    #[error("the password is right, but came as an LM response, which is not allowed")]
    LanmanNotAllowed,
    /// The password was right, but sent as an NTLMv1 or NTLM2 session response.
    #[error("the password is right, but came as an NTLMv1 response, which is not allowed")]
    NtlmV1NotAllowed,
    /// The password was sent in plaintext. The server did not check it.
    #[error("the password came unencrypted, which is not allowed")]
    PlaintextNotAllowed,
    /// The account has no password.
    #[error("the account has no password, which is not allowed")]
    NullPasswordsNotAllowed,
    /// The account is disabled.
    #[error("the account is disabled")]
    AccountDisabled,
    /// The client sent only an LM response, and no LM hash is stored (or the password is too long to have one).
    #[error("the client sent only an LM response, and the account has no LM hash")]
    NoLmHash,
    /// The client sent an NTLM response, and no NT hash is stored.
    #[error("the client sent an NTLM response, and the account has no NT hash")]
    NoNtHash,
    /// The client sent no response, or a single zero byte as anonymous clients do.
    #[error("the client sent no password")]
    NoResponse,
    /// Neither field has the length of a known response.
    #[error("the response has a length that no kind of response has")]
    UnknownResponse,
    /// The password is wrong (or an NTLMv2 response used a different spelling of the user or domain name).
    #[error("wrong password")]
    WrongPassword,
}

impl Refusal {
    /// The smb.conf line that would have accepted this client, if there is one.
    pub const fn setting(self) -> Option<&'static str> {
        match self {
            Self::LanmanNotAllowed => Some("lanman auth = yes"),
            Self::NtlmV1NotAllowed => Some("ntlm auth = ntlmv1-permitted"),
            Self::PlaintextNotAllowed => Some("encrypt passwords = no"),
            Self::NullPasswordsNotAllowed => Some("null passwords = yes"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_accepts_ntlm_and_refuses_weaker_methods() {
        let policy = Policy::default();
        assert_eq!(policy.admit(How::NtlmV2), Ok(()));
        assert_eq!(policy.admit(How::LmV2), Ok(()));
        assert_eq!(policy.admit(How::NtlmV1), Ok(()));
        assert_eq!(policy.admit(How::Lm), Err(Refusal::LanmanNotAllowed));
        assert_eq!(
            policy.admit(How::Plaintext),
            Err(Refusal::PlaintextNotAllowed)
        );
        assert_eq!(
            policy.admit(How::NoPassword),
            Err(Refusal::NullPasswordsNotAllowed)
        );
    }

    #[test]
    fn disabling_ntlm_v1_also_disables_the_ntlm2_session_response() {
        let policy = Policy {
            ntlm_v1: false,
            ..Policy::anything()
        };
        assert_eq!(
            policy.admit(How::Ntlm2Session),
            Err(Refusal::NtlmV1NotAllowed)
        );
        assert_eq!(policy.admit(How::NtlmV2), Ok(()));
        assert_eq!(policy.admit(How::Lm), Ok(()));
    }

    #[test]
    fn every_refusal_by_policy_names_the_setting_that_would_allow_it() {
        let nothing = Policy {
            lanman: false,
            ntlm_v1: false,
            plaintext: false,
            null_passwords: false,
        };
        for how in [
            How::Lm,
            How::NtlmV1,
            How::Ntlm2Session,
            How::Plaintext,
            How::NoPassword,
        ] {
            assert!(
                nothing
                    .admit(how)
                    .is_err_and(|refusal| refusal.setting().is_some()),
                "{how:?}"
            );
        }
        assert_eq!(Refusal::WrongPassword.setting(), None);
    }
}
