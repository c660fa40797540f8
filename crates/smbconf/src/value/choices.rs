//! Values that are one of several words.

use super::{Codec, nearest, unquoted};
use crate::settings::{
    CaseMode, LetterCase, MangledNames, MapReadonly, MapToGuest, NtlmAuth, Pacing, Protocol,
    Security, Signing, StrictLocking,
};

/// `server max protocol`: a level beyond NT1 means NT1.
pub const MAX_PROTOCOL: Codec<Protocol> = Codec {
    kind: "CORE, COREPLUS, LANMAN1, LANMAN2 or NT1",
    read: |t| {
        if is_smb2(t) {
            Ok(Protocol::Nt1)
        } else {
            choose(PROTOCOLS, t)
        }
    },
    nearest: nearest::none,
    show: |v| shown(PROTOCOLS, *v),
};

/// `server min protocol`: a level beyond NT1 would refuse every client.
pub const MIN_PROTOCOL: Codec<Protocol> = Codec {
    kind: MAX_PROTOCOL.kind,
    read: min_protocol,
    nearest: nearest::none,
    show: MAX_PROTOCOL.show,
};

/// `protocol`.
const PROTOCOLS: &[(&str, Protocol)] = &[
    ("CORE", Protocol::Core),
    ("COREPLUS", Protocol::CorePlus),
    ("LANMAN1", Protocol::Lanman1),
    ("LANMAN2", Protocol::Lanman2),
    ("NT1", Protocol::Nt1),
    ("CORE+", Protocol::CorePlus),
    ("LANMAN 1.0", Protocol::Lanman1),
    ("LANMAN 2.1", Protocol::Lanman2),
    ("LM1.2X002", Protocol::Lanman2),
    ("NT LM 0.12", Protocol::Nt1),
    ("SMB1", Protocol::Nt1),
];

const SECURITIES: &[(&str, Security)] = &[
    ("user", Security::User),
    ("share", Security::Share),
    ("auto", Security::User),
];

/// `security`.
pub const SECURITY: Codec<Security> = Codec {
    kind: "user or share",
    read: |t| {
        choose(SECURITIES, t).map_err(|_| {
            format!("'{t}' is not 'user' or 'share'; coax checks passwords itself and asks no domain and no other server")
        })
    },
    nearest: nearest::none,
    show: |v| shown(SECURITIES, *v),
};

/// Declares the codec of an enumeration; the first name of each value is the preferred one.
macro_rules! choice {
    ($(#[$doc:meta])* $codec:ident: $type:ty = $kind:literal, $($name:literal => $value:expr),+ $(,)?) => {
        $(#[$doc])*
        pub const $codec: Codec<$type> = Codec {
            kind: $kind,
            read: |text| choose(&[$(($name, $value)),+], text),
            nearest: nearest::none,
            show: |value| shown(&[$(($name, $value)),+], *value),
        };
    };
}

choice!(/// `map to guest`.
    MAP_TO_GUEST: MapToGuest = "never, bad user or bad password",
    "never" => MapToGuest::Never, "bad user" => MapToGuest::BadUser, "bad password" => MapToGuest::BadPassword);
choice!(/// `ntlm auth`.
    NTLM_AUTH: NtlmAuth = "ntlmv1-permitted, ntlmv2-only or disabled",
    "ntlmv1-permitted" => NtlmAuth::V1Permitted, "yes" => NtlmAuth::V1Permitted, "true" => NtlmAuth::V1Permitted,
    "1" => NtlmAuth::V1Permitted, "ntlmv2-only" => NtlmAuth::V2Only, "no" => NtlmAuth::V2Only,
    "false" => NtlmAuth::V2Only, "0" => NtlmAuth::V2Only, "mschapv2-and-ntlmv2-only" => NtlmAuth::V2Only,
    "disabled" => NtlmAuth::Disabled);
choice!(/// `server signing`.
    SIGNING: Signing = "disabled, auto or mandatory",
    "auto" => Signing::Auto, "default" => Signing::Auto, "desired" => Signing::Auto, "enabled" => Signing::Auto,
    "yes" => Signing::Auto, "true" => Signing::Auto, "1" => Signing::Auto, "if_required" => Signing::Auto,
    "disabled" => Signing::Disabled, "no" => Signing::Disabled, "off" => Signing::Disabled,
    "false" => Signing::Disabled, "0" => Signing::Disabled, "mandatory" => Signing::Mandatory,
    "required" => Signing::Mandatory, "force" => Signing::Mandatory, "forced" => Signing::Mandatory,
    "enforced" => Signing::Mandatory);
choice!(/// `coax:pacing`.
    PACING: Pacing = "auto, always or no",
    "auto" => Pacing::Auto, "yes" => Pacing::Auto, "always" => Pacing::Always, "no" => Pacing::Off, "off" => Pacing::Off);
choice!(/// `case sensitive`.
    CASE_MODE: CaseMode = "auto, yes or no",
    "auto" => CaseMode::Auto, "yes" => CaseMode::Sensitive, "no" => CaseMode::Insensitive,
    "true" => CaseMode::Sensitive, "false" => CaseMode::Insensitive, "on" => CaseMode::Sensitive,
    "off" => CaseMode::Insensitive, "1" => CaseMode::Sensitive, "0" => CaseMode::Insensitive);
choice!(/// `default case`.
    LETTER_CASE: LetterCase = "lower or upper", "lower" => LetterCase::Lower, "upper" => LetterCase::Upper);
choice!(/// `mangled names`.
    MANGLED_NAMES: MangledNames = "yes, illegal or no",
    "yes" => MangledNames::Yes, "illegal" => MangledNames::Illegal, "no" => MangledNames::No,
    "true" => MangledNames::Yes, "on" => MangledNames::Yes, "1" => MangledNames::Yes,
    "false" => MangledNames::No, "off" => MangledNames::No, "0" => MangledNames::No);
choice!(/// `map readonly`.
    MAP_READONLY: MapReadonly = "yes, no or permissions",
    "yes" => MapReadonly::Yes, "no" => MapReadonly::No, "permissions" => MapReadonly::Permissions,
    "perms" => MapReadonly::Permissions, "true" => MapReadonly::Yes, "on" => MapReadonly::Yes,
    "1" => MapReadonly::Yes, "false" => MapReadonly::No, "off" => MapReadonly::No, "0" => MapReadonly::No);
choice!(/// `strict locking`.
    STRICT_LOCKING: StrictLocking = "auto, yes or no",
    "auto" => StrictLocking::Auto, "yes" => StrictLocking::Yes, "no" => StrictLocking::No,
    "true" => StrictLocking::Yes, "on" => StrictLocking::Yes, "1" => StrictLocking::Yes,
    "false" => StrictLocking::No, "off" => StrictLocking::No, "0" => StrictLocking::No);

fn is_smb2(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    upper.starts_with("SMB2") || upper.starts_with("SMB3") || upper == "DEFAULT"
}

fn min_protocol(text: &str) -> Result<Protocol, String> {
    if is_smb2(text) && !text.eq_ignore_ascii_case("default") {
        return Err(format!(
            "'{text}' would refuse every dialect, because coax supports only SMB1. CORE allows all dialects, NT1 only the newest"
        ));
    }
    if text.eq_ignore_ascii_case("default") {
        Ok(Protocol::Core)
    } else {
        choose(PROTOCOLS, text)
    }
}

fn choose<T: Copy>(choices: &[(&str, T)], text: &str) -> Result<T, String> {
    let squeezed = |s: &str| {
        s.split_whitespace()
            .collect::<String>()
            .to_ascii_lowercase()
    };
    let wanted = squeezed(unquoted(text));
    choices
        .iter()
        .find(|(name, _)| squeezed(name) == wanted)
        .map(|(_, value)| *value)
        .ok_or_else(|| {
            format!(
                "'{text}' is none of {}",
                choices
                    .iter()
                    .map(|(n, _)| *n)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        })
}

fn shown<T: Copy + PartialEq>(choices: &[(&str, T)], value: T) -> String {
    choices
        .iter()
        .find(|(_, v)| *v == value)
        .map(|(name, _)| (*name).to_string())
        .unwrap_or_default()
}
