//! Rights of files and folders ([MS-CIFS] 2.2.1.4.1).

/// FILE_READ_DATA, FILE_LIST_DIRECTORY.
pub const READ_DATA: u32 = 0x1;
/// FILE_ADD_FILE.
pub const ADD_FILE: u32 = 0x2;
/// FILE_ADD_SUBDIRECTORY.
pub const ADD_SUBDIRECTORY: u32 = 0x4;
/// FILE_DELETE_CHILD.
pub const DELETE_CHILD: u32 = 0x40;
/// FILE_READ_ATTRIBUTES.
pub const READ_ATTRIBUTES: u32 = 0x80;
/// DELETE.
pub const DELETE: u32 = 0x0001_0000;
/// READ_CONTROL: to read the descriptor.
pub const READ_CONTROL: u32 = 0x0002_0000;
/// WRITE_DAC: to change the list of rights.
pub const WRITE_DAC: u32 = 0x0004_0000;
/// WRITE_OWNER.
pub const WRITE_OWNER: u32 = 0x0008_0000;
/// ACCESS_SYSTEM_SECURITY: the SACL.
pub const SYSTEM_SECURITY: u32 = 0x0100_0000;
/// All rights.
pub const ALL: u32 = 0x001f_01ff;
/// The rights of a reader.
pub const READ: u32 = 0x0012_00a9;
