//! IOCTL (0x27), [MS-CIFS] 2.2.4.35: device control of LAN Manager 1.0, of which print queues use one function.

use crate::{block::Block, error::Result, header::Fid};

/// Category of a spooler's functions.
pub const CATEGORY_PRINTER: u16 = 0x0053;
/// Function: the number of a print job.
pub const GET_PRINTER_ID: u16 = 0x0060;

/// The request. Of its data blocks no function served has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File or print job.
    pub fid: Fid,
    /// Device type.
    pub category: u16,
    /// Function.
    pub function: u16,
}

impl Request {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        Ok(Self {
            fid: Fid(words.u16("FID")?),
            category: words.u16("category")?,
            function: words.u16("function")?,
        })
    }
}
