//! From settings to the engine's server: configuration, shares on their folders, and users.

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result, bail};
use coax_logon::{
    accounts::{Accounts, User},
    policy::Policy,
    text::OemCodePage,
};
use coax_server::{
    Server,
    config::{self, Config, Limits},
    share::{Access, Admission, Share, ShareKind, ShareOptions, SharePasswords},
    table::{ShareId, Tables},
};
use coax_wire::{codepage::CodePage, dialect::Generation, time::Span};

use super::{clock::zone_minutes_west, host::SharedTables};
use crate::{
    config::{
        list::{Names, Patterns},
        macros::{MacroValues, expand, has_macros},
        settings::{
            CaseMode, GlobalSettings, LetterCase, MangledNames, MapReadonly, MapToGuest, NtlmAuth,
            Protocol, Secret, Security, Settings, ShareSettings, Signing, StrictLocking,
        },
        usermap::UsernameMap,
    },
    disk::{DiskFs, DiskOptions},
};

/// The server that `settings` ask for.
///
/// # Errors
/// A folder that cannot be shared, a user list that cannot be read, a code page nobody has.
pub fn server(settings: &Settings) -> Result<Server> {
    let config = engine_config(settings)?;
    let tables = Tables::new(config.tables());
    Ok(Server {
        accounts: accounts(settings, config.code_page)?,
        shares: shares(settings)?,
        config,
        tables: Arc::new(SharedTables::new(tables)),
    })
}

fn engine_config(settings: &Settings) -> Result<Config> {
    let global = &settings.global;
    let guid = super::host::random().context("the system gives no random numbers")?;
    let zone = i32::from(zone_minutes_west()).saturating_sub(global.time_offset_minutes);
    Ok(Config {
        name: global.netbios_name.clone(),
        workgroup: global.workgroup.clone(),
        comment: plain(&global.server_string, settings, ""),
        guid,
        security: security(global.security),
        encrypt_passwords: !global.plaintext_auth,
        policy: policy(global),
        signing: signing(global.signing),
        min_generation: oldest(global.min_protocol),
        max_generation: newest(global.max_protocol),
        max_buffer: u16::try_from(global.max_xmit_bytes).unwrap_or(u16::MAX),
        max_mpx: global.max_mux,
        read_raw: global.read_raw,
        write_raw: global.write_raw,
        large_readwrite: global.large_readwrite,
        nt_status: global.nt_status_support,
        unicode: global.unicode,
        pipes: global.nt_pipe_support,
        code_page: code_page(global)?,
        time_zone_minutes: i16::try_from(zone).unwrap_or(0),
        sharing_violation_delay: sharing_delay(global),
        write_time_delay: Span(u64::from(global.write_time_delay_us) * 1_000),
        map_to_guest: map_to_guest(global.map_to_guest),
        limits: Limits {
            opens: opens(global),
            ..Limits::default()
        },
        aliases: global.netbios_aliases.clone(),
        user_names: user_names(global)?,
        time_server: global.time_server,
        ..Config::default()
    })
}

fn code_page(global: &GlobalSettings) -> Result<CodePage> {
    CodePage::from_number(global.dos_charset).with_context(|| {
        format!(
            "'dos charset = {}' is no code page that coax has; try CP437 or CP850",
            global.dos_charset
        )
    })
}

fn security(setting: Security) -> config::Security {
    match setting {
        Security::User => config::Security::User,
        Security::Share => config::Security::Share,
    }
}

fn signing(setting: Signing) -> config::Signing {
    match setting {
        Signing::Disabled => config::Signing::Off,
        Signing::Auto => config::Signing::Offered,
        Signing::Mandatory => config::Signing::Required,
    }
}

fn map_to_guest(setting: MapToGuest) -> config::MapToGuest {
    match setting {
        MapToGuest::Never => config::MapToGuest::Never,
        MapToGuest::BadUser => config::MapToGuest::BadUser,
        MapToGuest::BadPassword => config::MapToGuest::BadPassword,
    }
}

/// The `username map`, if there is one.
fn user_names(global: &GlobalSettings) -> Result<Option<Arc<dyn config::UserNames>>> {
    if global.username_map.is_none() {
        return Ok(None);
    }
    match UsernameMap::load(global) {
        Ok(map) => Ok(Some(Arc::new(MappedNames(map)))),
        Err(wrong) => {
            let words: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            bail!("{}", words.join("\n"))
        }
    }
}

#[derive(Debug)]
struct MappedNames(UsernameMap);

impl config::UserNames for MappedNames {
    fn account(&self, sent: &str) -> String {
        self.0.user(sent).to_string()
    }
}

/// NTLMv2 is always admitted; `ntlm auth` says whether what is weaker is.
fn policy(global: &GlobalSettings) -> Policy {
    Policy {
        lanman: global.lanman_auth,
        ntlm_v1: global.ntlm_auth == NtlmAuth::V1Permitted,
        plaintext: global.plaintext_auth,
        null_passwords: global.null_passwords,
    }
}

fn sharing_delay(global: &GlobalSettings) -> Span {
    match global.defer_sharing_violations {
        true => Span(u64::from(global.sharing_delay_us) * 1_000),
        false => Span(0),
    }
}

fn opens(global: &GlobalSettings) -> usize {
    usize::try_from(global.max_open_files).unwrap_or(usize::MAX)
}

fn oldest(level: Protocol) -> Generation {
    match level {
        Protocol::Core => Generation::Core,
        Protocol::CorePlus => Generation::CorePlus,
        Protocol::Lanman1 => Generation::Lanman1,
        Protocol::Lanman2 => Generation::Lanman2,
        Protocol::Nt1 => Generation::Nt,
    }
}

fn newest(level: Protocol) -> Generation {
    match level {
        Protocol::Lanman2 => Generation::Lanman21,
        other => oldest(other),
    }
}

fn accounts(settings: &Settings, page: CodePage) -> Result<Accounts> {
    let mut accounts = Accounts::default();
    for user in &settings.users {
        let user = User::with_password(&user.name, &user.password.0, &Page(page));
        let name = user.name.clone();
        accounts.add(user).with_context(|| format!("user {name}"))?;
    }
    if let Some(path) = &settings.global.smb_passwd_file {
        let bytes = std::fs::read(path)
            .with_context(|| format!("cannot read the 'smb passwd file' {}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        accounts
            .add_smbpasswd(&text)
            .with_context(|| path.display().to_string())?;
    }
    Ok(accounts)
}

/// The clients' code page, as LM hashes need it.
struct Page(CodePage);

impl OemCodePage for Page {
    fn decode(&self, oem: &[u8]) -> String {
        self.0.decode(oem).into_owned()
    }

    fn encode_upper(&self, text: &str) -> Option<Vec<u8>> {
        self.0.encode(&self.0.upper(text)).ok()
    }
}

fn shares(settings: &Settings) -> Result<Vec<Arc<Share>>> {
    let mut shares: Vec<Arc<Share>> = vec![Arc::new(ipc())];
    for (number, share) in settings.shares.iter().enumerate() {
        if !share.available || share.name.eq_ignore_ascii_case("IPC$") {
            continue;
        }
        let id = ShareId(u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1));
        shares.push(Arc::new(disk_share(settings, share, id)?));
    }
    Ok(shares)
}

fn ipc() -> Share {
    Share {
        id: ShareId(0),
        name: "IPC$".into(),
        comment: "Remote IPC".into(),
        kind: ShareKind::Ipc,
        browseable: true,
        admission: Admission {
            guest: Some(Access::Write),
            ..Admission::default()
        },
        options: ShareOptions::default(),
        volume: String::new(),
        file_system: String::new(),
    }
}

fn disk_share(settings: &Settings, share: &ShareSettings, id: ShareId) -> Result<Share> {
    let path = path(settings, share)?;
    let options = DiskOptions {
        follow_symlinks: share.follow_symlinks,
        wide_links: share.wide_links,
        file_mode: (0o666 & share.create_mask) | share.force_create_mode,
        dir_mode: (0o777 & share.directory_mask) | share.force_directory_mode,
        max_disk: Some(share.max_disk_size_bytes).filter(|bytes| *bytes > 0),
    };
    let vfs = DiskFs::new(Path::new(&path), options).with_context(|| {
        format!(
            "share {}: name a folder that exists and that this user may read",
            share.name
        )
    })?;
    let kind = if share.printable {
        ShareKind::Printer(Arc::new(vfs))
    } else {
        ShareKind::Disk(Arc::new(vfs))
    };
    Ok(Share {
        id,
        name: share.name.clone(),
        comment: plain(&share.comment, settings, &share.name),
        kind,
        browseable: share.browseable,
        admission: admission(share),
        options: share_options(share),
        volume: if share.volume.is_empty() {
            share.name.clone()
        } else {
            share.volume.clone()
        },
        file_system: share.fstype.clone(),
    })
}

/// The share's folder. Its macros are expanded once, at the start, so those that differ from client to client cannot be
/// used.
pub(super) fn path(settings: &Settings, share: &ShareSettings) -> Result<String> {
    let client_macros = [
        "%m", "%M", "%I", "%i", "%L", "%u", "%U", "%a", "%R", "%T", "%d",
    ];
    let text = share.path.replace("%%", "");
    if let Some(found) = client_macros.iter().find(|m| text.contains(**m)) {
        bail!(
            "share {}: its path holds {found}, which differs from client to client; coax shares one folder",
            share.name
        );
    }
    Ok(plain(&share.path, settings, &share.name))
}

fn plain(text: &str, settings: &Settings, share: &str) -> String {
    if !has_macros(text) {
        return text.replace("%%", "%");
    }
    let host = settings.global.netbios_name.as_str();
    expand(
        text,
        &MacroValues {
            host_name: host,
            share,
            workgroup: &settings.global.workgroup,
            ..MacroValues::default()
        },
    )
}

fn admission(share: &ShareSettings) -> Admission {
    use crate::config::settings::Access as Granted;
    let names = |list: &Names| list.iter().map(str::to_lowercase).collect::<Vec<_>>();
    let secret = |secret: &Option<Secret>| secret.as_ref().map(|s| s.0.clone());
    Admission {
        guest: share.access(None).map(|granted| match granted {
            Granted::ReadOnly => Access::Read,
            Granted::ReadWrite => Access::Write,
        }),
        max_connections: share.max_connections as usize,
        read_only: share.read_only,
        valid_users: names(&share.valid_users),
        invalid_users: names(&share.invalid_users),
        read_list: names(&share.read_list),
        write_list: names(&share.write_list),
        passwords: SharePasswords {
            read: secret(&share.read_only_password),
            write: secret(&share.password),
        },
    }
}

fn share_options(share: &ShareSettings) -> ShareOptions {
    let patterns = |list: &Patterns| list.iter().map(Into::into).collect::<Vec<_>>();
    ShareOptions {
        oplocks: share.oplocks,
        level2_oplocks: share.level2_oplocks,
        fake_oplocks: share.fake_oplocks,
        strict_locking: share.strict_locking != StrictLocking::No,
        locking: share.locking,
        blocking_locks: share.blocking_locks,
        share_modes: share.share_modes,
        strict_sync: share.strict_sync,
        sync_always: share.sync_always,
        strict_allocate: share.strict_allocate,
        hide_dot_files: share.hide_dot_files,
        store_dos_attributes: share.store_dos_attributes,
        ea_support: share.ea_support,
        streams: share.keeps_streams(),
        case_sensitive: share.case_sensitive == CaseMode::Sensitive,
        preserve_case: share.preserve_case,
        short_preserve_case: share.short_preserve_case,
        default_case_upper: share.default_case == LetterCase::Upper,
        map_readonly: share.map_readonly != MapReadonly::No,
        fake_directory_create_times: share.fake_directory_create_times,
        veto_oplock_files: patterns(&share.veto_oplock_files),
        mangled_names: share.mangled_names != MangledNames::No,
        dos_filetime_resolution: share.dos_filetime_resolution,
        delete_readonly: share.delete_readonly,
        veto_files: patterns(&share.veto_files),
        hide_files: patterns(&share.hide_files),
        use_sendfile: share.use_sendfile,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::config::load::load_text;

    fn built(conf: &str) -> Result<Server> {
        server(&load_text("t", conf).settings)
    }

    #[test]
    fn every_available_share_is_there_and_ipc_always() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let built = built(&format!(
            "[global]\nnetbios name = attic\n[A]\npath = {path}\nguest ok = yes\n[B]\npath = {path}\navailable = no\n"
        ))
        .unwrap();
        let names: Vec<_> = built.shares.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["IPC$", "A"]);
        assert_eq!(built.config.name, "ATTIC");
        assert_eq!(built.shares[1].admission.access(None), Access::Read);
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_share_and_folder() {
        let error = format!("{:#}", built("[A]\npath = /no/such/folder\n").unwrap_err());
        assert!(
            error.contains("share A") && error.contains("/no/such/folder"),
            "{error}"
        );
    }

    #[test]
    fn a_path_that_differs_from_client_to_client_is_refused_and_one_that_does_not_is_expanded() {
        let error = built("[A]\npath = /srv/%U\n").unwrap_err().to_string();
        assert!(error.contains("%U"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("A")).unwrap();
        assert!(built(&format!("[A]\npath = {}/%S\n", folder.path().display())).is_ok());
    }

    #[test]
    fn a_disk_is_shown_no_larger_than_the_settings_admit() {
        let folder = tempfile::tempdir().unwrap();
        let space = |option: &str| {
            let share = format!("[A]\npath = {}\n{option}\n", folder.path().display());
            built(&share).unwrap().shares[1]
                .vfs()
                .unwrap()
                .space()
                .unwrap()
        };
        assert!(space("").total > 1 << 20);
        assert_eq!(space("max disk size = 1").total, 1 << 20);
    }

    #[test]
    fn what_gives_passwords_away_is_admitted_only_where_the_settings_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let share = format!("[A]\npath = {}\n", folder.path().display());
        let policy = |options: &str| {
            built(&format!("[global]\n{options}\n{share}"))
                .unwrap()
                .config
                .policy
        };
        let usual = policy("");
        assert!(usual.ntlm_v1 && !usual.lanman && !usual.plaintext && !usual.null_passwords);
        assert!(policy("lanman auth = yes").lanman);
        assert!(policy("null passwords = yes").null_passwords);
        assert!(!policy("ntlm auth = ntlmv2-only").ntlm_v1);
    }

    #[test]
    fn users_come_from_the_command_line_and_from_the_smbpasswd_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("smbpasswd");
        let x = "X".repeat(32);
        std::fs::write(
            &file,
            format!("bob:1:{x}:a4f49c406510bdcab6824ee7c30fd852:[U ]:LCT-0:\n"),
        )
        .unwrap();
        let mut settings = load_text(
            "t",
            &format!("[global]\nsmb passwd file = {}\n", file.display()),
        )
        .settings;
        settings.users.push(crate::config::settings::UserSettings {
            name: "ann".into(),
            password: Secret("x".into()),
        });
        let accounts = server(&settings).unwrap().accounts;
        assert!(accounts.find("BOB").is_some() && accounts.find("Ann").is_some());
        std::fs::write(&file, "bob:nonsense\n").unwrap();
        let error = format!("{:#}", server(&settings).unwrap_err());
        assert!(
            error.contains("smbpasswd") && error.contains("line 1"),
            "{error}"
        );
    }
}
