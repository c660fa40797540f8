//! LOGOFF_ANDX (0x74), [MS-CIFS] 2.2.4.54. The reply contains no data.

use crate::{block::BlockWriter, io::Writer};

/// Appends the request, which is an AndX head alone.
pub fn emit_request(out: &mut Writer) {
    BlockWriter::begin_andx(out).finish(0);
}
