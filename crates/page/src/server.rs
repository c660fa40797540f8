//! A running server as a [`Source`].

use std::{fs::File, io, sync::Arc};

use coax_serve::{TotalsStatus, View, status::Status, web::Page};
use coax_smbconf::{
    settings::GlobalSettings,
    table::{Effect, parameters},
};

use crate::{
    history::Day,
    limits::Limits,
    source::{Recording, Setting, ShareSetting, Source},
};

/// Makes the page of a capture.
pub type Explain = fn(File) -> Result<String, String>;

/// The page for [`coax_serve::Start`].
pub fn page(explain: Explain) -> Page {
    Box::new(move |door, view| {
        let (source, log) = (
            Arc::new(Server { view, explain }),
            door.listener.local_addr(),
        );
        let view = source.view.clone();
        let ended = {
            let view = view.clone();
            async move { view.ended().await }
        };
        if let Err(error) = crate::start(door, source, Limits::default(), ended) {
            let at = log.map(|at| at.to_string()).unwrap_or_default();
            view.notice(format!("there is no web page at {at}: {error}"));
        }
    })
}

struct Server {
    view: View,
    explain: Explain,
}

impl Source for Server {
    fn status(&self) -> Status {
        self.view.status()
    }

    fn totals(&self) -> TotalsStatus {
        self.view.totals()
    }

    fn name(&self) -> (String, String) {
        let global = &self.view.settings().global;
        (global.netbios_name.clone(), global.workgroup.clone())
    }

    fn names(&self) -> Vec<String> {
        let global = &self.view.settings().global;
        let own = std::iter::once(&global.netbios_name).chain(&global.netbios_aliases);
        own.flat_map(|name| {
            [
                name.to_lowercase(),
                format!("{}.local", name.to_lowercase()),
            ]
        })
        .collect()
    }

    fn shares(&self) -> Vec<ShareSetting> {
        let settings = self.view.settings();
        let shares = settings.shares.iter().filter(|share| share.available);
        let shown = shares.map(|share| ShareSetting {
            name: share.name.clone(),
            printer: share.printable,
        });
        shown.collect()
    }

    fn configuration(&self) -> Vec<Setting> {
        configuration(&self.view)
    }

    fn space(&self, share: &str) -> Option<(u64, u64)> {
        let space = self.view.space(share)?;
        Some((space.free, space.total))
    }

    fn day(&self) -> Option<Day> {
        self.view.history().map(|kept| Day::of(&kept))
    }

    fn record(&self, client: Option<u64>, limit: u64) -> Result<Box<dyn Recording>, String> {
        let recording = self.view.record(client, limit)?;
        Ok(Box::new(Running(recording)))
    }

    fn explain(&self, capture: File) -> Result<String, String> {
        (self.explain)(capture)
    }

    fn notice(&self, text: String) {
        self.view.notice(text);
    }
}

/// The table formats passwords as "(set)", so no value is a secret.
fn configuration(view: &View) -> Vec<Setting> {
    let settings = view.settings();
    let mut found = Vec::new();
    let mut add = |section: &str, parameter: &str, value: String, default: String| {
        if value != default {
            found.push(Setting {
                section: section.into(),
                parameter: parameter.into(),
                value,
                default,
            });
        }
    };
    for parameter in parameters() {
        if let Effect::Global(slot) = parameter.effect {
            let default = (slot.show)(&GlobalSettings::default());
            add(
                "global",
                parameter.name,
                (slot.show)(&settings.global),
                default,
            );
        }
    }
    for share in &settings.shares {
        for parameter in parameters() {
            if let Effect::Share(slot) = parameter.effect {
                let default = parameter.default_value();
                add(&share.name, parameter.name, (slot.show)(share), default);
            }
        }
    }
    found
}

struct Running(coax_serve::Recording);

impl Recording for Running {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn is_full(&self) -> bool {
        self.0.is_full()
    }

    fn finish(self: Box<Self>) -> io::Result<File> {
        self.0.finish()
    }
}
