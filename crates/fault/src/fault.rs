//! One fault.

use alloc::{format, string::ToString};
use core::{fmt, str::FromStr};

use coax_wire::command as code;

use crate::{
    action::Action,
    error::{FaultError, unfit},
    stage::Stage,
    target::Target,
    which::Which,
};

/// A fault: which requests, when, and what happens. Made from text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The requests.
    pub target: Target,
    /// Which of them, counted from 1 over all connections.
    pub which: Which,
    /// When it acts.
    pub stage: Stage,
    /// What happens.
    pub action: Action,
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (what, action) = text.split_once('=').ok_or(FaultError::Form)?;
        let (what, stage) = match what.split_once(':') {
            Some((what, stage)) => (what, Some(stage.trim().parse()?)),
            None => (what, None),
        };
        let (target, which) = match what.split_once('#') {
            Some((target, which)) => (target, which.trim().parse()?),
            None => (what, Which::Every(1)),
        };
        if target.trim().is_empty() || action.trim().is_empty() {
            return Err(FaultError::Form);
        }
        let action: Action = action.trim().parse()?;
        let fault = Self {
            target: target.trim().parse()?,
            which,
            stage: stage.unwrap_or(action.usual_stage()),
            action,
        };
        fault.fits().map(|()| fault)
    }
}

impl Fault {
    /// Whether the parts fit together.
    fn fits(&self) -> Result<(), FaultError> {
        let (target, action) = (&self.target, self.action.name());
        if self.stage == Stage::Request && !self.action.fits_request() {
            return Err(unfit(format!(
                "'{action}' changes a reply, so it does not fit the stage 'request': write {target}={}",
                self.action
            )));
        }
        if self.stage == Stage::Interim && !target.has_interim() {
            return Err(unfit(format!(
                "{target} has no interim reply; WRITE_RAW, TRANSACTION, TRANSACTION2 and NT_TRANSACT have one"
            )));
        }
        match target {
            Target::Command(code::READ_RAW)
                if self.stage == Stage::Reply && self.action.needs_header() =>
            {
                Err(unfit(format!(
                    "the reply of READ_RAW is data without a header, so '{action}' does not fit; 'truncate 0' is its refusal"
                )))
            }
            Target::Command(code::READ_RAW) if matches!(self.action, Action::Error(_)) => {
                Err(unfit(
                    "READ_RAW has no error reply: write READ_RAW=truncate 0, with which a server refuses it".to_string(),
                ))
            }
            Target::Command(code::NT_CANCEL)
                if self.stage != Stage::Request || matches!(self.action, Action::Error(_)) =>
            {
                Err(unfit(
                    "NT_CANCEL has no reply: only NT_CANCEL:request=drop, disconnect or reset is possible".to_string(),
                ))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.target, self.which)?;
        if self.stage != self.action.usual_stage() {
            write!(f, ":{}", self.stage)?;
        }
        write!(f, "={}", self.action)
    }
}
