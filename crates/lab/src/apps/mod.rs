//! Applications that measure a path without SMB.

mod blocks;
mod bulk;

pub use blocks::{BlockClient, BlockPlan, BlockResult, BlockServer, Message, blocks};
pub use bulk::{BulkOutcome, BulkReceiver, BulkResult, BulkSender, bulk, bulk_in};
