//! Builds the engine's server from the settings: configuration, shares with their folders, and users.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use coax_logon::policy::Policy;
use coax_server::{
    Server,
    config::{self, Config, Limits},
    share::{Access, Admission, Share, ShareKind, ShareOptions, SharePasswords},
    table::{ShareId, Tables},
    vfs::{FileId, Vfs, synced::SyncedVfs},
};
use coax_wire::{codepage::CodePage, dialect::Generation, time::Span};

use coax_clock::zone_minutes_west;

use super::{
    accounts::{accounts, unknown_users},
    budgets::means,
    folder::Folder,
    netbios::SharedList,
    profiles::Profiles,
    random::random,
    rejected::Rejected,
    service::{Service, ShareNumbers},
    share_path::{path, plain},
    shared_tables::SharedTables,
};
use coax_disk::{DiskFs, DiskOptions};
use coax_smbconf::{
    diagnostic::Diagnostic,
    list::{Names, Patterns},
    settings::{
        CaseMode, GlobalSettings, LetterCase, MangledNames, MapReadonly, MapToGuest, NtlmAuth,
        Protocol, Secret, Security, Settings, ShareSettings, Signing, StrictLocking,
    },
    usermap::UsernameMap,
};

/// Builds the server that `settings` describe.
///
/// # Errors
/// Every folder that cannot be shared, a user list that cannot be read, or an unknown code page.
pub(super) fn server(
    settings: &Settings,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Built, Rejected> {
    build(settings, None, warnings)
}

/// Builds the server that replaces `before`. It has the same tables, identity and neighbours, and the same open folders
/// where nothing about them has changed.
///
/// # Errors
/// As [`server`].
pub(super) fn again(
    settings: &Settings,
    before: &Service,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Built, Rejected> {
    build(settings, Some(before), warnings)
}

fn build(
    settings: &Settings,
    before: Option<&Service>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Built, Rejected> {
    let mut reasons = Vec::new();
    let mut reject = |error: anyhow::Error| reasons.push(Diagnostic::error(format!("{error:#}")));
    let config = engine_config(settings).map_err(&mut reject).ok();
    let accounts = accounts(settings, warnings).map_err(&mut reject).ok();
    let mut numbers = before.map_or_else(ShareNumbers::default, |b| b.numbers.clone());
    let (shares, folders) = shares(settings, before, &mut numbers, &mut reject);
    if let Some(accounts) = &accounts {
        warnings.extend(unknown_users(settings, accounts));
    }
    let (Some(mut config), Some(accounts), true) = (config, accounts, reasons.is_empty()) else {
        return Err(Rejected(reasons));
    };
    let tables = match before {
        None => Arc::new(SharedTables::new(Tables::new(config.tables()))),
        Some(before) => {
            config.guid = before.server.config.guid;
            let neighbours = &before.server.config.neighbours;
            config.neighbours.clone_from(neighbours);
            before.server.tables.clone()
        }
    };
    let server = Server {
        accounts,
        shares,
        tables,
        config,
    };
    Ok(Built {
        server,
        folders,
        numbers,
    })
}

/// A server, and the folders of its shares.
#[derive(Debug)]
pub(super) struct Built {
    /// The server.
    pub(super) server: Server,
    /// The folders.
    pub(super) folders: Vec<Folder>,
    /// The shares' numbers.
    pub(super) numbers: ShareNumbers,
}

fn engine_config(settings: &Settings) -> Result<Config> {
    let global = &settings.global;
    let guid = random().context("the system gives no random numbers")?;
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
        reset_on_zero_vc: global.reset_on_zero_vc,
        budgets: means(settings).budgets(),
        limits: Limits {
            opens: opens(global),
            ..Limits::default()
        },
        aliases: global.netbios_aliases.clone(),
        user_names: user_names(global)?,
        neighbours: Some(Arc::new(SharedList::default())),
        time_server: global.time_server,
        domain_logons: domain_logons(global),
        messages: global.netbios.messages,
        audit: global.audit.is_some(),
        ..Config::default()
    })
}

/// What users get at log-on, with `domain logons`.
fn domain_logons(global: &GlobalSettings) -> Option<Arc<dyn config::DomainLogons>> {
    let logons = || -> Arc<dyn config::DomainLogons> { Arc::new(Profiles::new(global)) };
    global.netbios.domain_logons.then(logons)
}

fn code_page(global: &GlobalSettings) -> Result<CodePage> {
    CodePage::from_number(global.dos_charset).with_context(|| {
        format!(
            "'dos charset = {}' is not a code page that coax supports; try CP437 or CP850",
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

/// NTLMv2 is always accepted; `ntlm auth` decides whether weaker responses are.
fn policy(global: &GlobalSettings) -> Policy {
    Policy {
        lanman: global.lanman_auth,
        ntlm_v1: global.ntlm_auth == NtlmAuth::V1Permitted,
        plaintext: global.plaintext_auth || global.plaintext_accepted,
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

/// Returns the shares that can be served, with their folders. `reject` receives the reason for every other share.
fn shares(
    settings: &Settings,
    before: Option<&Service>,
    numbers: &mut ShareNumbers,
    reject: &mut impl FnMut(anyhow::Error),
) -> (Vec<Arc<Share>>, Vec<Folder>) {
    let mut folders = Vec::new();
    let mut shares: Vec<Arc<Share>> = vec![Arc::new(ipc())];
    for share in &settings.shares {
        if !share.available || share.name.eq_ignore_ascii_case("IPC$") {
            continue;
        }
        match folder(settings, share, before, numbers) {
            Ok(folder) => {
                shares.push(Arc::new(disk_share(settings, share, &folder)));
                folders.push(folder);
            }
            Err(error) => reject(error),
        }
    }
    (shares, folders)
}

fn ipc() -> Share {
    Share {
        id: ShareId(0),
        name: "IPC$".into(),
        comment: "Remote IPC".into(),
        kind: ShareKind::Ipc,
        browseable: true,
        home_of: None,
        admission: Admission {
            guest: Some(Access::Write),
            ..Admission::default()
        },
        options: ShareOptions::default(),
        volume: String::new(),
        file_system: String::new(),
    }
}

fn folder(
    settings: &Settings,
    share: &ShareSettings,
    before: Option<&Service>,
    numbers: &mut ShareNumbers,
) -> Result<Folder> {
    let path = path(settings, share)?;
    let options = DiskOptions {
        follow_symlinks: share.follow_symlinks,
        wide_links: share.wide_links,
        file_mode: (0o666 & share.create_mask) | share.force_create_mode,
        dir_mode: (0o777 & share.directory_mask) | share.force_directory_mode,
        max_disk: Some(share.max_disk_size_bytes).filter(|bytes| *bytes > 0),
    };
    let id = numbers.of(share, &path);
    let mut known = before.into_iter().flat_map(|before| &before.folders);
    let known = known.find(|known| known.id == id && known.options == options);
    let (disk, root, real_path) = match known {
        Some(known) => (known.disk.clone(), known.root, known.real_path.clone()),
        None => open_disk(share, &path, options)?,
    };
    Ok(Folder {
        id,
        name: share.name.clone(),
        path,
        disk,
        root,
        real_path,
        options,
        writes: !share.read_only || share.printable || share.write_list.iter().next().is_some(),
    })
}

/// The folder, its identity, and its path without symbolic links.
fn open_disk(
    share: &ShareSettings,
    path: &str,
    options: DiskOptions,
) -> Result<(Arc<DiskFs>, Option<FileId>, Option<PathBuf>)> {
    let disk = DiskFs::new(Path::new(path), options).with_context(|| {
        format!(
            "share {}: name a folder that exists and that this user may read",
            share.name
        )
    })?;
    let root = disk.stat("").ok().map(|stat| stat.id);
    let real_path = Path::new(path).canonicalize().ok();
    Ok((Arc::new(disk), root, real_path))
}

fn disk_share(settings: &Settings, share: &ShareSettings, folder: &Folder) -> Share {
    let options = share_options(share);
    let vfs: Arc<dyn Vfs> = match options.syncs_always() {
        true => Arc::new(SyncedVfs::new(folder.disk.clone())),
        false => folder.disk.clone(),
    };
    let kind = if share.printable {
        ShareKind::Printer(vfs)
    } else {
        ShareKind::Disk(vfs)
    };
    Share {
        id: folder.id,
        name: share.name.clone(),
        comment: plain(&share.comment, settings, &share.name),
        kind,
        browseable: share.browseable,
        home_of: share.home_of.clone(),
        admission: admission(share),
        options,
        volume: if share.volume.is_empty() {
            share.name.clone()
        } else {
            share.volume.clone()
        },
        file_system: share.fstype.clone(),
    }
}

fn admission(share: &ShareSettings) -> Admission {
    let names = |list: &Names| list.iter().map(str::to_lowercase).collect::<Vec<_>>();
    let secret = |secret: &Option<Secret>| secret.as_ref().map(|s| s.0.clone());
    Admission {
        guest: (share.guest_ok || share.guest_only).then_some(match share.guest_read_only {
            true => Access::Read,
            false => Access::Write,
        }),
        guest_account: share.guest_account.to_lowercase(),
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
        case_by_client: share.case_sensitive == CaseMode::Auto,
        preserve_case: share.preserve_case,
        short_preserve_case: share.short_preserve_case,
        default_case_upper: share.default_case == LetterCase::Upper,
        map_readonly: share.map_readonly != MapReadonly::No,
        fake_directory_create_times: share.fake_directory_create_times,
        veto_oplock_files: patterns(&share.veto_oplock_files),
        mangled_names: share.mangled_names != MangledNames::No,
        dos_filetime_resolution: share.dos_filetime_resolution,
        kernel_change_notify: share.kernel_change_notify,
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
    use coax_smbconf::load::load_text;

    fn built(conf: &str) -> Result<Server, Rejected> {
        server(&load_text("t", conf).settings, &mut Vec::new()).map(|built| built.server)
    }

    #[test]
    fn the_server_has_every_available_share_and_always_ipc() {
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
    fn the_engine_grants_the_access_rights_that_the_settings_define() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let lists = [
            "",
            "valid users = ann",
            "invalid users = nobody ann",
            "valid users = nobody",
        ];
        let kinds = ["guest ok = yes", "guest only = yes", "guest ok = no"];
        let rights = [
            "read only = yes",
            "read only = no",
            "read only = yes\nwrite list = ann",
            "read only = no\nread list = nobody",
        ];
        for (lists, kind, rights) in lists
            .iter()
            .flat_map(|l| kinds.iter().map(move |k| (l, k)))
            .flat_map(|(l, k)| rights.iter().map(move |r| (l, k, r)))
        {
            let conf = format!("[A]\npath = {path}\n{kind}\n{lists}\n{rights}\n");
            let settings = load_text("t", &conf).settings;
            let built = server(&settings, &mut Vec::new()).unwrap();
            for user in [None, Some("ann"), Some("bob")] {
                use coax_smbconf::settings::Access as Granted;
                let granted = match settings.shares[0].access(user) {
                    None => Access::None,
                    Some(Granted::ReadOnly) => Access::Read,
                    Some(Granted::ReadWrite) => Access::Write,
                };
                assert_eq!(
                    built.server.shares[1].admission.access(user),
                    granted,
                    "{user:?} {conf}"
                );
            }
        }
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
    fn a_path_with_client_macros_is_rejected_and_one_with_server_macros_is_expanded() {
        let error = built("[A]\npath = /srv/%U\n").unwrap_err().to_string();
        assert!(error.contains("%U"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("A")).unwrap();
        assert!(built(&format!("[A]\npath = {}/%S\n", folder.path().display())).is_ok());
    }

    #[test]
    fn the_reported_disk_size_does_not_exceed_the_setting() {
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
    fn weak_password_methods_are_accepted_only_if_the_settings_allow_them() {
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
        let ascii = &coax_logon::text::Ascii;
        let ann = coax_logon::accounts::User::with_password("ann", "x", ascii);
        settings.users.push(ann);
        let accounts = server(&settings, &mut Vec::new()).unwrap().server.accounts;
        assert!(accounts.find("BOB").is_some() && accounts.find("Ann").is_some());
        std::fs::write(&file, "bob:nonsense\n").unwrap();
        let error = format!("{:#}", server(&settings, &mut Vec::new()).unwrap_err());
        assert!(
            error.contains("smbpasswd") && error.contains("line 1"),
            "{error}"
        );
    }
}
