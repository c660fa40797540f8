//! Command codes ([MS-CIFS] 2.2.2.1).

macro_rules! commands {
    ($($name:ident = $code:literal, $andx:literal;)*) => {
        $(#[doc = concat!("SMB_COM_", stringify!($name))] pub const $name: u8 = $code;)*
        /// Every command: code, name, whether its words begin with an AndX head.
        pub const TABLE: &[(u8, &str, bool)] = &[$(($code, stringify!($name), $andx),)*];
    };
}

commands! {
    CREATE_DIRECTORY = 0x00, false;
    DELETE_DIRECTORY = 0x01, false;
    OPEN = 0x02, false;
    CREATE = 0x03, false;
    CLOSE = 0x04, false;
    FLUSH = 0x05, false;
    DELETE = 0x06, false;
    RENAME = 0x07, false;
    QUERY_INFORMATION = 0x08, false;
    SET_INFORMATION = 0x09, false;
    READ = 0x0a, false;
    WRITE = 0x0b, false;
    LOCK_BYTE_RANGE = 0x0c, false;
    UNLOCK_BYTE_RANGE = 0x0d, false;
    CREATE_TEMPORARY = 0x0e, false;
    CREATE_NEW = 0x0f, false;
    CHECK_DIRECTORY = 0x10, false;
    PROCESS_EXIT = 0x11, false;
    SEEK = 0x12, false;
    LOCK_AND_READ = 0x13, false;
    WRITE_AND_UNLOCK = 0x14, false;
    READ_RAW = 0x1a, false;
    READ_MPX = 0x1b, false;
    READ_MPX_SECONDARY = 0x1c, false;
    WRITE_RAW = 0x1d, false;
    WRITE_MPX = 0x1e, false;
    WRITE_MPX_SECONDARY = 0x1f, false;
    WRITE_COMPLETE = 0x20, false;
    SET_INFORMATION2 = 0x22, false;
    QUERY_INFORMATION2 = 0x23, false;
    LOCKING_ANDX = 0x24, true;
    TRANSACTION = 0x25, false;
    TRANSACTION_SECONDARY = 0x26, false;
    IOCTL = 0x27, false;
    IOCTL_SECONDARY = 0x28, false;
    COPY = 0x29, false;
    MOVE = 0x2a, false;
    ECHO = 0x2b, false;
    WRITE_AND_CLOSE = 0x2c, false;
    OPEN_ANDX = 0x2d, true;
    READ_ANDX = 0x2e, true;
    WRITE_ANDX = 0x2f, true;
    TRANSACTION2 = 0x32, false;
    TRANSACTION2_SECONDARY = 0x33, false;
    FIND_CLOSE2 = 0x34, false;
    FIND_NOTIFY_CLOSE = 0x35, false;
    TREE_CONNECT = 0x70, false;
    TREE_DISCONNECT = 0x71, false;
    NEGOTIATE = 0x72, false;
    SESSION_SETUP_ANDX = 0x73, true;
    LOGOFF_ANDX = 0x74, true;
    TREE_CONNECT_ANDX = 0x75, true;
    QUERY_INFORMATION_DISK = 0x80, false;
    SEARCH = 0x81, false;
    FIND = 0x82, false;
    FIND_UNIQUE = 0x83, false;
    FIND_CLOSE = 0x84, false;
    NT_TRANSACT = 0xa0, false;
    NT_TRANSACT_SECONDARY = 0xa1, false;
    NT_CREATE_ANDX = 0xa2, true;
    NT_CANCEL = 0xa4, false;
    NT_RENAME = 0xa5, false;
    OPEN_PRINT_FILE = 0xc0, false;
    WRITE_PRINT_FILE = 0xc1, false;
    CLOSE_PRINT_FILE = 0xc2, false;
    GET_PRINT_QUEUE = 0xc3, false;
    SEND_SINGLE_BLOCK = 0xd0, false;
    INVALID = 0xfe, false;
}

/// The command's name in the specification's vocabulary, without `SMB_COM_`.
pub fn name(code: u8) -> Option<&'static str> {
    TABLE.iter().find(|row| row.0 == code).map(|row| row.1)
}

/// Whether the command's words begin with an AndX head.
pub fn is_andx(code: u8) -> bool {
    TABLE.iter().any(|row| row.0 == code && row.2)
}

/// Whether the command cannot follow another in an AndX chain: it answers with messages of its own, or not at all, and
/// what the chain did before would go untold. No command's list of followers in [MS-CIFS] 2.2.4 names one of these.
pub fn stands_alone(command: u8) -> bool {
    const ALONE: &[u8] = &[
        NEGOTIATE,
        ECHO,
        NT_CANCEL,
        READ_RAW,
        WRITE_RAW,
        TRANSACTION_SECONDARY,
        TRANSACTION2_SECONDARY,
        NT_TRANSACT_SECONDARY,
    ];
    ALONE.contains(&command)
}
