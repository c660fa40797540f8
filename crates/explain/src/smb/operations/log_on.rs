//! From the first packet of a connection until it has a share.

use coax_wire::command;

use crate::smb::{
    files::Mark,
    stretch::{Exchange, Stretch},
};

/// See the module.
#[derive(Debug, Default)]
pub(in crate::smb) struct LogOn {
    /// Where the connection began, if the capture has it.
    begin: Option<Mark>,
    stretch: Option<Stretch>,
    /// It has a share, or could not get one.
    is_over: bool,
}

impl LogOn {
    /// Of a connection whose beginning was captured.
    pub(in crate::smb) fn starting(begin: Option<Mark>) -> Self {
        Self {
            begin,
            ..Self::default()
        }
    }

    /// A step was answered; the whole, if that was the last. Later steps are each a whole.
    pub(in crate::smb) fn add(&mut self, exchange: &Exchange) -> Option<Stretch> {
        if self.is_over {
            return Some(Stretch::of(exchange));
        }
        let begin = self.begin.unwrap_or(exchange.begin);
        let stretch = &mut self.stretch;
        let stretch = stretch.get_or_insert_with(|| Stretch::from(begin));
        stretch.add(exchange, true);
        let is_tree = matches!(
            exchange.name.command,
            command::TREE_CONNECT | command::TREE_CONNECT_ANDX
        );
        (is_tree && !exchange.refused)
            .then(|| self.end(None))
            .flatten()
    }

    /// It has ended; `until`: a step that was not answered by then.
    pub(in crate::smb) fn end(&mut self, until: Option<Mark>) -> Option<Stretch> {
        let begin = self.begin.take().filter(|_| until.is_some());
        let is_first = !std::mem::replace(&mut self.is_over, true);
        let stretch = self.stretch.take().or(begin.map(Stretch::from));
        let mut stretch = stretch.filter(|_| is_first)?;
        until.into_iter().for_each(|until| stretch.extend(until));
        Some(stretch)
    }
}
