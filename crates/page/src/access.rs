//! Who may ask what.
//!
//! The page changes little (it records traffic), but what it shows is for its readers only. A request must name this
//! machine in `Host`, so that a page of another site cannot reach it under a name of its own (DNS rebinding). Changes
//! must come from the page itself (`Origin`, Fetch Metadata). If there is a token, a reader must have shown it.

use std::net::SocketAddr;

use coax_http::{Head, Method, Port, Refused, is_own};
use coax_serve::web::Token;
use rustix::rand::{GetRandomFlags, getrandom};
use subtle::ConstantTimeEq as _;

/// The cookie of readers that have shown the token.
const COOKIE: &str = "coax-page";

/// The rules.
#[derive(Debug)]
pub(crate) struct Access {
    token: Option<Token>,
    /// What the cookie contains: new with each start, so that a cookie never is the token.
    session: String,
    /// Names of this machine, in lower case.
    names: Vec<String>,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The page's own files, which are public.
    Asset,
    /// The page: links from other sites may lead to it.
    Page,
    /// What the server does.
    Data,
    /// A change.
    Change,
    /// To show the token.
    LogIn,
}

impl Access {
    /// With this token and these names of the machine.
    pub(crate) fn new(token: Option<Token>, names: Vec<String>) -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        let filled = getrandom(&mut bytes, GetRandomFlags::empty())?;
        if filled != bytes.len() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self {
            token,
            session: bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            names,
        })
    }

    /// Whether a request that came to `local` is served.
    pub(crate) fn check(
        &self,
        head: &Head,
        purpose: Purpose,
        local: SocketAddr,
    ) -> Result<(), Refused> {
        if !is_own(&head.host, local, &self.names, Port::Any) {
            return Err(Refused {
                status: 421,
                why: "the page answers only under this machine's address or name: see docs/live.md",
            });
        }
        let changes = matches!(purpose, Purpose::Change | Purpose::LogIn);
        let is_allowed = match head.method {
            Method::Get | Method::Head => !changes,
            Method::Post => changes,
            Method::Other => false,
        };
        if !is_allowed {
            return Err(Refused {
                status: 405,
                why: if changes { "use POST" } else { "use GET" },
            });
        }
        let is_bearer = self.is_bearer(head);
        let comes_from_here = match purpose {
            Purpose::Asset | Purpose::Page => true,
            Purpose::Data => !is_foreign(head),
            Purpose::Change | Purpose::LogIn => is_bearer || is_from_page(head),
        };
        if !comes_from_here {
            return Err(Refused {
                status: 403,
                why: "another site asked for this: open the page itself",
            });
        }
        let needs_token = matches!(purpose, Purpose::Page | Purpose::Data | Purpose::Change);
        match needs_token && !is_bearer && !self.has_cookie(head) {
            true => Err(Refused {
                status: 401,
                why: "this needs the page's token: 'Authorization: Bearer TOKEN'",
            }),
            false => Ok(()),
        }
    }

    /// The cookie for a reader that shows `token`; `None` if it is wrong.
    pub(crate) fn cookie(&self, token: &str) -> Option<String> {
        let own = self.token.as_ref()?;
        is_same(own.text(), token).then(|| {
            format!(
                "{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict",
                self.session
            )
        })
    }

    /// Whether the request itself shows the token.
    fn is_bearer(&self, head: &Head) -> bool {
        let Some(token) = &self.token else {
            return false;
        };
        let shown = head.authorization.as_deref();
        let shown = shown.and_then(|shown| shown.strip_prefix("Bearer "));
        shown.is_some_and(|shown| is_same(token.text(), shown.trim()))
    }

    fn has_cookie(&self, head: &Head) -> bool {
        if self.token.is_none() {
            return true;
        }
        let cookies = head.cookie.as_deref().unwrap_or_default().split(';');
        let mut pairs = cookies.filter_map(|cookie| cookie.trim().split_once('='));
        pairs.any(|(name, value)| name == COOKIE && is_same(&self.session, value))
    }
}

/// A browser says that another site asks. `same-site` is another one too: another port of this machine.
fn is_foreign(head: &Head) -> bool {
    let site = head.fetch_site.as_deref();
    site.is_some_and(|site| site != "same-origin" && site != "none")
}

fn is_from_page(head: &Head) -> bool {
    if is_foreign(head) {
        return false;
    }
    match (&head.origin, head.fetch_site.as_deref()) {
        (Some(origin), _) => {
            let place = origin.split_once("://").map(|(_, place)| place);
            place.is_some_and(|place| place.eq_ignore_ascii_case(&head.host))
        }
        (None, site) => site == Some("same-origin"),
    }
}

/// Compares in constant time, except for the length.
fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}
