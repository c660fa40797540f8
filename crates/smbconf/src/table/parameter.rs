//! The definition of one parameter.

use crate::settings::{GlobalSettings, ShareSettings};

/// The scope of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In `[global]` only.
    Global,
    /// In a share; in `[global]` it sets the default of the following shares.
    Share,
}

/// The settings field of a parameter.
pub struct Slot<T> {
    /// The field's name.
    pub field: &'static str,
    /// The form of a value.
    pub kind: &'static str,
    /// Sets the field from a value. If a value cannot be used as written, the nearest usable one replaces it, and a
    /// warning is returned. If there is none, the error says which values are valid.
    pub set: fn(&mut T, &str) -> Result<Option<String>, String>,
    /// Formats the field for smb.conf.
    pub show: fn(&T) -> String,
    /// Whether the field is the same in both settings.
    pub same: fn(&T, &T) -> bool,
    /// Copies the field to the first settings from the second.
    pub copy: fn(&mut T, &T),
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slot<T> {}

/// What coax does about a parameter.
#[derive(Clone, Copy)]
pub enum Effect {
    /// Honoured, global.
    Global(Slot<GlobalSettings>),
    /// Honoured, per share.
    Share(Slot<ShareSettings>),
    /// Changes how the file itself is read.
    Reading,
    /// Accepted; its purpose is met in this other way.
    MetOtherwise(&'static str),
    /// Has no effect, for this reason.
    NotHonoured(&'static str),
}

/// One parameter.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// Synonyms.
    pub synonyms: &'static [&'static str],
    /// Names with the opposite meaning, such as `writeable` for `read only`.
    pub opposites: &'static [&'static str],
    /// Where it may stand.
    pub scope: Scope,
    /// Its effect.
    pub effect: Effect,
    /// Its purpose in one sentence, with units.
    pub doc: &'static str,
    /// The first Samba release without it, if Samba has removed it.
    pub gone_in: Option<&'static str>,
    /// A change takes effect only when the server starts.
    pub at_start: bool,
}

impl Parameter {
    pub(super) const fn new(
        name: &'static str,
        scope: Scope,
        effect: Effect,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            synonyms: &[],
            opposites: &[],
            scope,
            effect,
            doc,
            gone_in: None,
            at_start: false,
        }
    }

    pub(super) const fn also(mut self, synonyms: &'static [&'static str]) -> Self {
        self.synonyms = synonyms;
        self
    }

    pub(super) const fn opposite(mut self, opposites: &'static [&'static str]) -> Self {
        self.opposites = opposites;
        self
    }

    pub(super) const fn gone_in(mut self, release: &'static str) -> Self {
        self.gone_in = Some(release);
        self
    }

    pub(super) const fn at_start(mut self) -> Self {
        self.at_start = true;
        self
    }

    /// Whether it is honoured.
    pub fn is_honoured(&self) -> bool {
        matches!(
            self.effect,
            Effect::Global(_) | Effect::Share(_) | Effect::Reading
        )
    }

    /// The form of a value; empty if coax does not read it.
    pub fn kind(&self) -> &'static str {
        match self.effect {
            Effect::Global(slot) => slot.kind,
            Effect::Share(slot) => slot.kind,
            Effect::Reading | Effect::MetOtherwise(_) | Effect::NotHonoured(_) => "",
        }
    }

    /// The default value; empty if coax does not read it.
    pub fn default_value(&self) -> String {
        match self.effect {
            Effect::Global(slot) => (slot.show)(&GlobalSettings::default()),
            Effect::Share(slot) => (slot.show)(&ShareSettings::default()),
            Effect::Reading | Effect::MetOtherwise(_) | Effect::NotHonoured(_) => String::new(),
        }
    }
}

/// Defines a parameter with a slot: `slot!(Global, "name", field, CODEC, "documentation")`.
macro_rules! slot {
    ($scope:ident, $name:literal, $field:ident $(. $inner:ident)?, $codec:expr, $doc:literal) => {
        $crate::table::parameter::Parameter::new(
            $name,
            $crate::table::parameter::Scope::$scope,
            $crate::table::parameter::Effect::$scope($crate::table::parameter::Slot {
                field: stringify!($field),
                kind: $codec.kind,
                set: |settings, text| {
                    let (value, warning) = $codec.take(text)?;
                    settings.$field $(.$inner)? = value;
                    Ok(warning)
                },
                show: |settings| ($codec.show)(&settings.$field $(.$inner)?),
                same: |one, other| one.$field $(.$inner)? == other.$field $(.$inner)?,
                copy: |to, from| to.$field $(.$inner)?.clone_from(&from.$field $(.$inner)?),
            }),
            $doc,
        )
    };
}
pub(super) use slot;
