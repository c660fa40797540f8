//! The file: opening, checking, setting aside.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use redb::{Database, DatabaseError, ReadableDatabase, StorageError, TableDefinition, TableError};

use crate::{
    clients,
    error::{OpenError, SetAside},
    history,
};

/// The name of the file in the state folder.
pub const FILE: &str = "coax.redb";
/// The version of the tables. A file with a higher one was written by a newer program.
pub const FORMAT: u64 = 1;

const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
const FORMAT_KEY: &str = "format";
/// A file that is larger, bytes, is not ours: 4,096 clients take less than 1 MB, and 2,880 minutes of 64 samples with the longest
/// names less than 30 MB.
const SIZE_MAX: u64 = 64 << 20;
/// Names that are tried for a file that is set aside.
const NAMES_MAX: u32 = 1000;

/// Why a file cannot be used as it is.
enum Fault {
    /// Nothing can be done now.
    Now(OpenError),
    /// It must make room for a new one.
    Unusable(String),
}

/// Opens the file, or creates it. An earlier file that cannot be used is renamed.
pub(crate) fn open(path: &Path) -> Result<(Database, Option<SetAside>), OpenError> {
    let reason = match usable(path) {
        Ok(database) => return Ok((database, None)),
        Err(Fault::Now(error)) => return Err(error),
        Err(Fault::Unusable(reason)) => reason,
    };
    let set_aside = match set_aside(path) {
        Ok(path) => SetAside { path, reason },
        Err(error) => return Err(OpenError::Stuck { reason, error }),
    };
    match usable(path) {
        Ok(database) => Ok((database, Some(set_aside))),
        Err(Fault::Now(error)) => Err(error),
        Err(Fault::Unusable(reason)) => Err(OpenError::Io(std::io::Error::other(reason))),
    }
}

/// The database, after its version and every row were read. A damaged file may make redb panic, which counts as damage.
fn usable(path: &Path) -> Result<Database, Fault> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(Fault::Unusable("it is not a file".into())),
        Ok(found) if found.len() > SIZE_MAX => {
            return Err(Fault::Unusable(format!(
                "it is larger than {SIZE_MAX} bytes"
            )));
        }
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Fault::Now(error.into())),
    }
    catch_unwind(AssertUnwindSafe(|| checked(path)))
        .unwrap_or_else(|_| Err(Fault::Unusable("it is damaged".into())))
}

fn checked(path: &Path) -> Result<Database, Fault> {
    let mut database = Database::create(path).map_err(fault)?;
    let sound = database.check_integrity().map_err(fault)?;
    if !sound {
        return Err(Fault::Unusable("it is damaged".into()));
    }
    match format(&database).map_err(of_storage)? {
        None => {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))
                .map_err(|error| Fault::Now(error.into()))?;
            begin(&database).map_err(of_storage)?;
        }
        Some(FORMAT) => {}
        Some(other) => {
            let reason = format!("it has the format {other}; this program reads format {FORMAT}");
            return Err(Fault::Unusable(reason));
        }
    }
    clients::rows(&database).map_err(|error| of_storage(*error.0))?;
    history::rows(&database).map_err(|error| of_storage(*error.0))?;
    Ok(database)
}

fn fault(error: DatabaseError) -> Fault {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Fault::Now(OpenError::InUse),
        DatabaseError::UpgradeRequired(format) => Fault::Unusable(format!(
            "its file format is {format}, which this program does not read"
        )),
        other => of_storage(other.into()),
    }
}

/// A system error will go away or needs the administrator; anything else is in the file.
fn of_storage(error: redb::Error) -> Fault {
    match error {
        redb::Error::Io(error) if !is_in_the_file(&error) => Fault::Now(error.into()),
        other => Fault::Unusable(other.to_string()),
    }
}

fn is_in_the_file(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

fn format(database: &Database) -> Result<Option<u64>, redb::Error> {
    let transaction = database.begin_read()?;
    match transaction.open_table(META) {
        Ok(table) => Ok(table.get(FORMAT_KEY)?.map(|value| value.value())),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn begin(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    transaction.open_table(META)?.insert(FORMAT_KEY, FORMAT)?;
    clients::create(&transaction)?;
    history::create(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// Renames the file to the first free name `coax.redb.unusable-N`.
fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    for number in 1..=NAMES_MAX {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".unusable-{number}"));
        let name = PathBuf::from(name);
        if !name.try_exists()? {
            fs::rename(path, &name)?;
            return Ok(name);
        }
    }
    Err(std::io::Error::other(
        "too many earlier files are there; delete them",
    ))
}

impl From<StorageError> for Fault {
    fn from(error: StorageError) -> Self {
        of_storage(error.into())
    }
}
