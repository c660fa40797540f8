//! The largest message of a client that announces no more than the server did before it.

use toml::Value;

use crate::parameters::ModelParameters;

impl ModelParameters {
    /// The same with a client whose messages may be as large as any.
    pub(crate) fn of_larger_buffer(&self) -> Option<Self> {
        self.client_buffer.map(|_| Self {
            client_buffer: Some(u64::from(u16::MAX)),
            ..self.clone()
        })
    }

    /// Its values of the scenario.
    pub(super) fn buffers(&self, set: &mut impl FnMut(String, Value)) {
        let Some(bytes) = self.client_buffer else {
            return;
        };
        for key in ["announced", "request"] {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            let path = format!("client.profile.buffers.{key}");
            set(path, Value::Integer(bytes));
        }
    }
}
