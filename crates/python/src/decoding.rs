//! Messages and client profiles.

use coax_decode::Kind;
use coax_report::{
    decode::{Shown, line},
    nearest, profiles as all,
};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::errors::UnknownNameError;

/// The names of the kinds, those of `coax decode --kind`.
const KINDS: [(&str, Kind); 8] = [
    ("session", Kind::Session),
    ("smb", Kind::Smb),
    ("name", Kind::Name),
    ("datagram", Kind::Datagram),
    ("netbeui", Kind::Netbeui),
    ("ethernet", Kind::Ethernet),
    ("llc", Kind::Llc),
    ("ipx", Kind::Ipx),
];
/// The longest message, bytes: a session packet's length has 24 bits.
const LONGEST: usize = 4 + (1 << 24);

/// The object of `coax decode --json` for one message.
#[pyfunction]
#[pyo3(signature = (message, kind=None))]
pub(crate) fn decode(py: Python<'_>, message: &[u8], kind: Option<&str>) -> PyResult<String> {
    let kind = match kind {
        Some(name) => named(name)?,
        None => Kind::of(message),
    };
    if message.is_empty() || message.len() > LONGEST {
        let text = format!(
            "a message has 1 to {LONGEST} bytes, and this one {}",
            message.len()
        );
        return Err(PyValueError::new_err(text));
    }
    Ok(py.detach(|| {
        let decoded = kind.decode(message);
        line(&Shown {
            place: None,
            bytes: message,
            len: message.len(),
            decoded: &decoded,
        })
    }))
}

fn named(name: &str) -> PyResult<Kind> {
    let found = KINDS.iter().find(|(known, _)| *known == name);
    let names = KINDS.map(|(known, _)| known);
    found
        .map(|(_, kind)| *kind)
        .ok_or_else(|| UnknownNameError::new_err(nearest::unknown("kind", name, &names)))
}

/// The object of `coax profiles --json`.
#[pyfunction]
pub(crate) fn profiles() -> String {
    all::list(true)
}

/// The object of `coax profiles NAME --json`.
#[pyfunction]
pub(crate) fn profile(name: &str) -> PyResult<String> {
    all::named(name, true).map_err(UnknownNameError::new_err)
}
