//! What is known about one parameter.

use crate::settings::{GlobalSettings, ShareSettings};

/// Where a parameter may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In `[global]` alone.
    Global,
    /// In a share; in `[global]` it sets the default of the shares that follow.
    Share,
}

/// The field of the settings behind a parameter.
pub struct Slot<T> {
    /// The field's name.
    pub field: &'static str,
    /// What a value looks like.
    pub kind: &'static str,
    /// Reads a value into its field. A value that cannot be used as written is replaced by the nearest one that can, and
    /// the warning says so; where nothing is near, the error says what would be right.
    pub set: fn(&mut T, &str) -> Result<Option<String>, String>,
    /// Shows the field as smb.conf would have it.
    pub show: fn(&T) -> String,
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
    /// Honoured, for the server as a whole.
    Global(Slot<GlobalSettings>),
    /// Honoured, share by share.
    Share(Slot<ShareSettings>),
    /// Changes how the file itself is read.
    Reading,
    /// Accepted: what it is for is met in another way, which is this.
    MetOtherwise(&'static str),
    /// Has no effect, for this reason.
    NotHonoured(&'static str),
}

/// One parameter.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Other names for the same.
    pub synonyms: &'static [&'static str],
    /// Names that mean the opposite, as `writeable` for `read only`.
    pub opposites: &'static [&'static str],
    /// Where it may stand.
    pub scope: Scope,
    /// What coax does about it.
    pub effect: Effect,
    /// What it is for, in one sentence, with units.
    pub doc: &'static str,
    /// The first Samba release without it, if Samba has dropped it.
    pub gone_in: Option<&'static str>,
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

    /// Whether it has an effect of its own.
    pub fn is_honoured(&self) -> bool {
        matches!(
            self.effect,
            Effect::Global(_) | Effect::Share(_) | Effect::Reading
        )
    }

    /// What a value looks like; empty where coax does not look at it.
    pub fn kind(&self) -> &'static str {
        match self.effect {
            Effect::Global(slot) => slot.kind,
            Effect::Share(slot) => slot.kind,
            Effect::Reading | Effect::MetOtherwise(_) | Effect::NotHonoured(_) => "",
        }
    }

    /// Its value when no file sets it; empty where coax does not look at it.
    pub fn default_value(&self) -> String {
        match self.effect {
            Effect::Global(slot) => (slot.show)(&GlobalSettings::default()),
            Effect::Share(slot) => (slot.show)(&ShareSettings::default()),
            Effect::Reading | Effect::MetOtherwise(_) | Effect::NotHonoured(_) => String::new(),
        }
    }
}

/// A parameter with a slot: `slot!(Global, "name", field, CODEC, "documentation")`.
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
            }),
            $doc,
        )
    };
}
pub(super) use slot;
