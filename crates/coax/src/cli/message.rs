//! `coax message`: sends a message to a machine, a user or a workgroup.

use std::{
    io::{IsTerminal as _, Read as _},
    process::ExitCode,
};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{
    name_options::NameOptions,
    output::{WrongUsage, print},
};
use coax_transfer::messages::{
    MessageFailure, MessageMethod, MessageOptions, SentMessage, send_message,
};
use coax_wire::codepage::CodePage;

/// The longest text that is read, bytes. All methods send less.
const MAX_INPUT: u64 = 64 * 1024;

/// `coax message`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "coax sends to a machine or user in a session, as NET SEND does; the recipient confirms it. The text has at most \
    1,600 bytes. coax sends to a workgroup in a datagram, as WinPopup does; nobody confirms it. Text and names have at most 407 bytes."
)]
pub struct MessageArgs {
    /// A machine, a user, a workgroup, or an IPv4 address
    pub to: String,
    /// The text; - reads standard input
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// The sender's name [default: this machine's name]
    #[arg(long, value_name = "NAME")]
    pub from: Option<String>,
    /// How to send it [default: session, to a workgroup mailslot]
    #[arg(long, value_enum)]
    pub method: Option<Way>,
    /// The code page of the recipient: 437, 850, 852, 866, 932 …
    #[arg(long, value_name = "N", default_value = "850", value_parser = super::files::code_page)]
    pub code_page: CodePage,
    /// The TCP port of the recipient's sessions
    #[arg(long, value_name = "PORT", default_value = "139")]
    pub port: u16,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub names: NameOptions,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// How a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// In a session to the name with the suffix 03
    Session,
    /// In a datagram to \MAILSLOT\MESSNGR
    Mailslot,
}

/// Does what the command line says.
///
/// # Errors
/// There is no text, or a name is no NetBIOS name.
pub fn main(args: &MessageArgs) -> Result<ExitCode, WrongUsage> {
    let text = text(args)?;
    let options = MessageOptions {
        from: args.from.clone(),
        method: args.method.map(|way| match way {
            Way::Session => MessageMethod::Session,
            Way::Mailslot => MessageMethod::Mailslot,
        }),
        port: args.port,
        code_page: args.code_page,
        resolver: args.names.resolver(),
        ..MessageOptions::default()
    };
    match send_message(&args.to, &text, &options) {
        Ok(sent) => {
            warnings(&sent)
                .iter()
                .for_each(|text| eprintln!("warning: {text}"));
            Ok(match args.json {
                true => print(&format!("{}\n", json_of(&args.to, &sent))),
                false => print(&format!("{}\n", in_words(&sent))),
            })
        }
        Err(failure @ MessageFailure::BadName { .. }) => {
            let word = args.from.as_deref().unwrap_or(&args.to);
            let wrong = WrongUsage::new("message", failure.to_string());
            Err(wrong.at(word).help(failure.help()))
        }
        Err(failure) => {
            if args.json {
                print(&format!(
                    "{}\n",
                    json!({"ok": false, "to": args.to, "error": failure.to_string()})
                ));
            }
            eprintln!("error: {failure}");
            eprintln!("  = help: {}", failure.help());
            Ok(ExitCode::FAILURE)
        }
    }
}

fn text(args: &MessageArgs) -> Result<String, WrongUsage> {
    let wrong = |message: String, help: &str| WrongUsage::new("message", message).help(help);
    let text = match args.text.as_slice() {
        [only] if only == "-" => {
            let mut bytes = Vec::new();
            let input = std::io::stdin();
            if input.is_terminal() {
                eprintln!("type the message; Ctrl-D ends it");
            }
            let read = input.lock().take(MAX_INPUT).read_to_end(&mut bytes);
            read.map_err(|error| {
                wrong(
                    format!("cannot read standard input: {error}"),
                    "write the text after the name",
                )
            })?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        words => words.join(" "),
    };
    match text.trim().is_empty() {
        true => Err(wrong(
            "the message is empty".into(),
            "write the text after the name, or - and the text to standard input",
        )),
        false => Ok(text),
    }
}

fn warnings(sent: &SentMessage) -> Vec<String> {
    let mut all = sent.notes.clone();
    if sent.cut > 0 {
        let limit = match sent.method {
            MessageMethod::Session => "1,600 bytes",
            MessageMethod::Mailslot => "a datagram",
        };
        all.push(format!(
            "the last {} characters did not fit into {limit} and were not sent",
            sent.cut
        ));
    }
    if sent.replaced > 0 {
        all.push(format!(
            "{} characters are not in the recipient's code page and were sent as _; choose it with --code-page",
            sent.replaced
        ));
    }
    all
}

fn in_words(sent: &SentMessage) -> String {
    let places: Vec<String> = sent.addresses.iter().map(ToString::to_string).collect();
    let places = places.join(", ");
    match sent.method {
        MessageMethod::Session => format!("delivered to {} at {places}", sent.name),
        MessageMethod::Mailslot => {
            format!(
                "sent to {} at {places}; datagrams are not confirmed",
                sent.name
            )
        }
    }
}

fn json_of(to: &str, sent: &SentMessage) -> Value {
    let confirmed = sent.method == MessageMethod::Session;
    json!({
        "ok": true,
        "to": to,
        "name": sent.name.characters().escape_ascii().to_string(),
        "suffix": format!("{:02x}", sent.name.suffix()),
        "method": if confirmed { "session" } else { "mailslot" },
        "confirmed": confirmed,
        "addresses": sent.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "bytes": sent.bytes,
        "cut": sent.cut,
        "replaced": sent.replaced,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use coax_wire::nbt::name::NbName;

    #[test]
    fn what_was_cut_and_replaced_is_said() {
        let sent = SentMessage {
            method: MessageMethod::Mailslot,
            name: NbName(*b"LAB            \0"),
            addresses: vec![[10, 0, 0, 255].into()],
            bytes: 400,
            cut: 7,
            replaced: 2,
            notes: vec!["a note".into()],
        };
        assert_eq!(warnings(&sent).len(), 3);
        assert_eq!(
            in_words(&sent),
            "sent to LAB<00> at 10.0.0.255; datagrams are not confirmed"
        );
        let shown = json_of("lab", &sent);
        assert_eq!(shown.pointer("/confirmed"), Some(&json!(false)));
        assert_eq!(shown.pointer("/cut"), Some(&json!(7)));
    }
}
