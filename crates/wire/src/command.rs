//! The table of commands ([MS-CIFS] 2.2.2.1): code, name, place in a chain, and what each needs.
//!
//! A new command is one row here and one row in the server's dispatcher, beside the module of its codec and its handler.

/// The positions that a command may have in an AndX chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Its words begin with an AndX head: another command may follow.
    AndX,
    /// It ends a chain.
    Last,
    /// It cannot follow another command, because it has its own reply messages or none, so the client would get no
    /// result of the chain before it. No list of followers in [MS-CIFS] 2.2.4 contains it.
    Alone,
}

/// The state that a command requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// An agreed dialect.
    Dialect,
    /// A session; share-level security implies one.
    Session,
    /// A session and a tree that its user may use.
    Tree,
    /// The same, for commands that name a FID: without session or tree the FID is invalid (smbtorture raw.context, as NT
    /// servers answer).
    File,
    /// A tree, connected by any user: the tree outlives its user's session.
    TreeAlone,
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Code.
    pub code: u8,
    /// Name in the specification's vocabulary, without `SMB_COM_`.
    pub name: &'static str,
    /// Its permitted positions in a chain.
    pub form: Form,
    /// The required state.
    pub needs: Needs,
}

macro_rules! commands {
    ($($name:ident = $code:literal, $form:ident, $needs:ident;)*) => {
        $(#[doc = concat!("SMB_COM_", stringify!($name))] pub const $name: u8 = $code;)*
        /// Every command.
        pub const COMMANDS: &[Command] = &[$(Command {
            code: $code,
            name: stringify!($name),
            form: Form::$form,
            needs: Needs::$needs,
        },)*];
    };
}

commands! {
    CREATE_DIRECTORY = 0x00, Last, Tree;
    DELETE_DIRECTORY = 0x01, Last, Tree;
    OPEN = 0x02, Last, Tree;
    CREATE = 0x03, Last, Tree;
    CLOSE = 0x04, Last, File;
    FLUSH = 0x05, Last, File;
    DELETE = 0x06, Last, Tree;
    RENAME = 0x07, Last, Tree;
    QUERY_INFORMATION = 0x08, Last, Tree;
    SET_INFORMATION = 0x09, Last, Tree;
    READ = 0x0a, Last, File;
    WRITE = 0x0b, Last, File;
    LOCK_BYTE_RANGE = 0x0c, Last, File;
    UNLOCK_BYTE_RANGE = 0x0d, Last, File;
    CREATE_TEMPORARY = 0x0e, Last, Tree;
    CREATE_NEW = 0x0f, Last, Tree;
    CHECK_DIRECTORY = 0x10, Last, Tree;
    PROCESS_EXIT = 0x11, Last, Session;
    SEEK = 0x12, Last, File;
    LOCK_AND_READ = 0x13, Last, File;
    WRITE_AND_UNLOCK = 0x14, Last, File;
    READ_RAW = 0x1a, Alone, Dialect;
    READ_MPX = 0x1b, Last, Tree;
    READ_MPX_SECONDARY = 0x1c, Last, Tree;
    WRITE_RAW = 0x1d, Alone, Dialect;
    WRITE_MPX = 0x1e, Last, Tree;
    WRITE_MPX_SECONDARY = 0x1f, Last, Tree;
    WRITE_COMPLETE = 0x20, Last, Nothing;
    SET_INFORMATION2 = 0x22, Last, Tree;
    QUERY_INFORMATION2 = 0x23, Last, Tree;
    LOCKING_ANDX = 0x24, AndX, File;
    TRANSACTION = 0x25, Last, Tree;
    TRANSACTION_SECONDARY = 0x26, Alone, Tree;
    IOCTL = 0x27, Last, Tree;
    IOCTL_SECONDARY = 0x28, Last, Nothing;
    COPY = 0x29, Last, Tree;
    MOVE = 0x2a, Last, Tree;
    ECHO = 0x2b, Alone, Nothing;
    WRITE_AND_CLOSE = 0x2c, Last, File;
    OPEN_ANDX = 0x2d, AndX, Tree;
    READ_ANDX = 0x2e, AndX, File;
    WRITE_ANDX = 0x2f, AndX, File;
    TRANSACTION2 = 0x32, Last, Tree;
    TRANSACTION2_SECONDARY = 0x33, Alone, Tree;
    FIND_CLOSE2 = 0x34, Last, Tree;
    FIND_NOTIFY_CLOSE = 0x35, Last, Tree;
    TREE_CONNECT = 0x70, Last, Dialect;
    TREE_DISCONNECT = 0x71, Last, TreeAlone;
    NEGOTIATE = 0x72, Alone, Nothing;
    SESSION_SETUP_ANDX = 0x73, AndX, Dialect;
    LOGOFF_ANDX = 0x74, AndX, Session;
    TREE_CONNECT_ANDX = 0x75, AndX, Dialect;
    QUERY_INFORMATION_DISK = 0x80, Last, Tree;
    SEARCH = 0x81, Last, Tree;
    FIND = 0x82, Last, Tree;
    FIND_UNIQUE = 0x83, Last, Tree;
    FIND_CLOSE = 0x84, Last, Tree;
    NT_TRANSACT = 0xa0, Last, Tree;
    NT_TRANSACT_SECONDARY = 0xa1, Alone, Tree;
    NT_CREATE_ANDX = 0xa2, AndX, Tree;
    NT_CANCEL = 0xa4, Alone, Nothing;
    NT_RENAME = 0xa5, Last, Tree;
    OPEN_PRINT_FILE = 0xc0, Last, Tree;
    WRITE_PRINT_FILE = 0xc1, Last, Tree;
    CLOSE_PRINT_FILE = 0xc2, Last, Tree;
    GET_PRINT_QUEUE = 0xc3, Last, Tree;
    SEND_SINGLE_BLOCK = 0xd0, Alone, Nothing;
    SEND_START_MULTI_BLOCK = 0xd5, Alone, Nothing;
    SEND_END_MULTI_BLOCK = 0xd6, Alone, Nothing;
    SEND_TEXT_MULTI_BLOCK = 0xd7, Alone, Nothing;
    INVALID = 0xfe, Last, Nothing;
}

/// The command with this code.
pub fn find(code: u8) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.code == code)
}

/// The command's name in the specification's vocabulary, without `SMB_COM_`.
pub fn name(code: u8) -> Option<&'static str> {
    find(code).map(|command| command.name)
}

/// Whether the command's words begin with an AndX head.
pub fn is_andx(code: u8) -> bool {
    find(code).is_some_and(|command| command.form == Form::AndX)
}

/// Whether the command cannot follow another in an AndX chain.
pub fn stands_alone(code: u8) -> bool {
    find(code).is_some_and(|command| command.form == Form::Alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_every_name_is_in_the_table_once() {
        for (i, one) in COMMANDS.iter().enumerate() {
            let others = COMMANDS.iter().skip(i + 1);
            for other in others {
                assert!(
                    one.code != other.code && one.name != other.name,
                    "{}",
                    one.name
                );
            }
        }
    }
}
