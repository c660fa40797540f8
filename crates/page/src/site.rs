//! What is where on the page.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use coax_http::{Answering, Body, Refused, Request, Response, Service};
use serde::Deserialize;
use serde_json::json;
use tokio::{
    sync::{Semaphore, watch},
    time::sleep,
};

use crate::{
    access::{Access, Purpose},
    files,
    limits::Limits,
    live::Live,
    metrics,
    recording::{Recordings, SECONDS_MAX},
    source::Source,
};

/// The pause after a wrong token.
const WRONG_TOKEN: Duration = Duration::from_millis(250);
/// Time between two notices about wrong tokens.
const NOTICE: Duration = Duration::from_secs(60);
/// What may be loaded and sent: only what comes from the page's own address.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// What the page of a capture may do: run its own script in an origin of its own, and load nothing.
const EXPLAINED: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts";

/// The page.
pub(crate) struct Site {
    pub(crate) limits: Limits,
    access: Access,
    source: Arc<dyn Source>,
    live: Live,
    recordings: Arc<Recordings>,
    readers: Arc<Semaphore>,
    /// Tokens are tried one at a time.
    log_in: Semaphore,
    noticed: Mutex<Option<Instant>>,
    refused: Mutex<BTreeMap<&'static str, u64>>,
    is_closed: watch::Sender<bool>,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Page,
    Style,
    Script,
    Icon,
    LogIn,
    Snapshot,
    Events,
    History,
    Configuration,
    Metrics,
    Record,
    EndRecording,
    DeleteRecording,
    Capture(u64),
    Explained(u64),
}

impl Place {
    fn of(path: &str) -> Option<Self> {
        Some(match path {
            "/" => Self::Page,
            "/page.css" => Self::Style,
            "/page.js" => Self::Script,
            "/icon.svg" | "/favicon.ico" => Self::Icon,
            "/login" => Self::LogIn,
            "/snapshot" => Self::Snapshot,
            "/events" => Self::Events,
            "/history" => Self::History,
            "/configuration" => Self::Configuration,
            "/metrics" => Self::Metrics,
            "/recording" => Self::Record,
            "/recording/end" => Self::EndRecording,
            "/recording/delete" => Self::DeleteRecording,
            _ => return Self::of_recording(path.strip_prefix("/recording/")?),
        })
    }

    fn of_recording(name: &str) -> Option<Self> {
        match name.split_once('.')? {
            (id, "pcapng") => Some(Self::Capture(id.parse().ok()?)),
            (id, "html") => Some(Self::Explained(id.parse().ok()?)),
            _ => None,
        }
    }

    fn purpose(self) -> Purpose {
        match self {
            Self::Page | Self::Explained(_) => Purpose::Page,
            Self::Style | Self::Script | Self::Icon => Purpose::Asset,
            Self::LogIn => Purpose::LogIn,
            Self::Record | Self::EndRecording | Self::DeleteRecording => Purpose::Change,
            _ => Purpose::Data,
        }
    }
}

/// What to record.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    client: Option<u64>,
    #[serde(default = "minute")]
    seconds: u64,
}

fn minute() -> u64 {
    60
}

impl Site {
    pub(crate) fn new(access: Access, source: Arc<dyn Source>, limits: Limits) -> Self {
        let recordings = Arc::<Recordings>::default();
        Self {
            live: Live::new(source.clone(), recordings.clone(), limits.period),
            readers: Arc::new(Semaphore::new(limits.readers)),
            log_in: Semaphore::new(1),
            noticed: Mutex::default(),
            refused: Mutex::default(),
            is_closed: watch::Sender::new(false),
            limits,
            access,
            source,
            recordings,
        }
    }

    /// Looks at the server while there are readers.
    pub(crate) async fn watch(&self) {
        self.live.run().await;
    }

    /// Ends all connections.
    pub(crate) fn close(&self) {
        self.recordings.delete();
        self.is_closed.send_replace(true);
    }

    /// Counts a refusal.
    fn refused(&self, why: &'static str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let count = refused.entry(why).or_default();
        *count = count.saturating_add(1);
    }

    async fn respond(&self, request: Request, local: SocketAddr) -> Response {
        let place = Place::of(&request.head.path);
        let purpose = place.map_or(Purpose::Page, Place::purpose);
        if let Err(refused) = self.access.check(&request.head, purpose, local) {
            return self.refuse(refused, place);
        }
        match place {
            Some(place) => self.show(place, &request.body).await,
            None => {
                let why = "there is nothing at this address";
                self.refuse(Refused { status: 404, why }, None)
            }
        }
    }

    fn refuse(&self, refused: Refused, place: Option<Place>) -> Response {
        let why = match refused.status {
            401 => "token",
            403 => "site",
            404 => "address",
            405 => "method",
            421 => "host",
            _ => "request",
        };
        self.refused(why);
        match (refused.status, place) {
            (401, Some(Place::Page)) => Response::html(401, files::LOG_IN),
            (401, _) => Response::from(refused).field("WWW-Authenticate", "Bearer realm=\"coax\""),
            (405, Some(place)) => {
                let changes = matches!(place.purpose(), Purpose::Change | Purpose::LogIn);
                let allowed = if changes { "POST" } else { "GET, HEAD" };
                Response::from(refused).field("Allow", allowed)
            }
            _ => refused.into(),
        }
    }

    async fn show(&self, place: Place, body: &[u8]) -> Response {
        match place {
            Place::Page => Response::html(200, files::PAGE),
            Place::Style => text("text/css; charset=utf-8", files::style()),
            Place::Script => text("text/javascript; charset=utf-8", files::script()),
            Place::Icon => text("image/svg+xml", files::ICON),
            Place::LogIn => self.log_in(body).await,
            Place::Snapshot => self.snapshot().await,
            Place::Events => self.events(),
            Place::History => self.history().await,
            Place::Configuration => self.configuration().await,
            Place::Metrics => self.metrics().await,
            Place::Record => self.record(body),
            Place::EndRecording => match self.recordings.stop() {
                true => Response::json(202, &json!({})),
                false => Response::error(409, "no recording is under way"),
            },
            Place::DeleteRecording => {
                self.recordings.delete();
                Response::json(202, &json!({}))
            }
            Place::Capture(id) => self.capture(id),
            Place::Explained(id) => self.explained(id),
        }
    }

    async fn log_in(&self, body: &[u8]) -> Response {
        let Ok(_turn) = self.log_in.acquire().await else {
            return Response::error(503, "the page ends");
        };
        let body = std::str::from_utf8(body).unwrap_or_default();
        let token = body.split('&').find_map(|pair| pair.strip_prefix("token="));
        if let Some(cookie) = self.access.cookie(&decoded(token.unwrap_or_default())) {
            return text("text/plain; charset=utf-8", "")
                .status(303)
                .field("Set-Cookie", cookie)
                .field("Location", "/");
        }
        self.refused("token");
        self.notice_wrong_token();
        sleep(WRONG_TOKEN).await;
        let page = files::LOG_IN.replacen(
            "<!--WRONG-->",
            "<p class=\"wrong\" role=\"alert\">This is not the token.</p>",
            1,
        );
        Response::html(401, page)
    }

    fn notice_wrong_token(&self) {
        let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        if noticed.is_none_or(|at| at.elapsed() >= NOTICE) {
            *noticed = Some(Instant::now());
            let text = "somebody gave the web page a wrong token (reported once a minute)";
            self.source.notice(text.into());
        }
    }

    async fn snapshot(&self) -> Response {
        let Some(frame) = self.live.frame().await else {
            return Response::error(503, "the server ends");
        };
        let past = serde_json::to_string(&frame.past).unwrap_or_default();
        let text_ = format!("{{\"now\":{},\"past\":{past}}}", frame.text);
        text("application/json", text_)
    }

    fn events(&self) -> Response {
        let Ok(reader) = self.readers.clone().try_acquire_owned() else {
            self.refused("readers");
            return Response::error(503, "too many readers of this page")
                .field("Retry-After", "10");
        };
        let body = Body::Events(self.live.subscribe(), reader);
        Response::new(200, "text/event-stream", body)
    }

    async fn history(&self) -> Response {
        let source = self.source.clone();
        let kept = tokio::task::spawn_blocking(move || source.day()).await;
        let day = kept.ok().flatten().unwrap_or_else(|| self.live.day());
        Response::json(200, &json!(day))
    }

    async fn configuration(&self) -> Response {
        let source = self.source.clone();
        let found = tokio::task::spawn_blocking(move || source.configuration()).await;
        match found {
            Ok(settings) => Response::json(200, &json!({ "settings": settings })),
            Err(_) => Response::error(503, "the server ends"),
        }
    }

    async fn metrics(&self) -> Response {
        let Some(frame) = self.live.frame().await else {
            return Response::error(503, "the server ends");
        };
        let refused = {
            let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.clone()
        };
        text(
            metrics::KIND,
            metrics::text(&frame.seen, self.live.readers(), &refused),
        )
    }

    fn record(&self, body: &[u8]) -> Response {
        let wish: Wish = match serde_json::from_slice(body) {
            Ok(wish) => wish,
            Err(error) => {
                return Response::error(
                    400,
                    &format!("write {{\"client\": NUMBER or null, \"seconds\": 60}}: {error}"),
                );
            }
        };
        if !(1..=SECONDS_MAX).contains(&wish.seconds) {
            let why = format!("a recording takes 1 to {SECONDS_MAX} seconds");
            return Response::error(400, &why);
        }
        let length = Duration::from_secs(wish.seconds);
        let limits = (
            length,
            self.limits.recording_bytes,
            self.limits.recording_kept,
        );
        match self.recordings.begin(&self.source, wish.client, limits) {
            Ok(id) => {
                let who = wish
                    .client
                    .map_or("all clients".into(), |client| format!("client {client}"));
                let seconds = wish.seconds;
                self.source
                    .notice(format!("the web page records {who} for {seconds} s"));
                Response::json(202, &json!({ "id": id }))
            }
            Err(why) => Response::error(409, &why),
        }
    }

    fn capture(&self, id: u64) -> Response {
        let Some((file, len)) = self.recordings.capture(id) else {
            return Response::error(404, "this recording is not kept any more");
        };
        let name = format!("attachment; filename=\"coax-{id}.pcapng\"");
        Response::new(200, "application/octet-stream", Body::File(file, len))
            .field("Content-Disposition", name)
    }

    fn explained(&self, id: u64) -> Response {
        match self.recordings.page(id) {
            Some(Ok(page)) => {
                Response::new(200, "text/html; charset=utf-8", Body::Shared(page.into()))
                    .policy(EXPLAINED)
            }
            Some(Err(why)) => Response::error(404, &why),
            None => Response::error(404, "this recording is not kept any more"),
        }
    }
}

impl Service for Site {
    fn answer(&self, request: Request, local: SocketAddr) -> Answering<'_> {
        Box::pin(self.respond(request, local))
    }

    fn policy(&self) -> &'static str {
        POLICY
    }

    fn is_full(&self) {
        self.refused("connections");
    }

    fn closed(&self) -> Answering<'_, ()> {
        Box::pin(async {
            let _ = self.is_closed.subscribe().wait_for(|closed| *closed).await;
        })
    }
}

fn text(kind: &'static str, text: impl Into<Cow<'static, str>>) -> Response {
    Response::new(200, kind, Body::Text(text.into()))
}

/// A value of a form (application/x-www-form-urlencoded).
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let next = match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                let value = digit().zip(digit()).map(|(high, low)| high * 16 + low);
                value
                    .and_then(|value| u8::try_from(value).ok())
                    .unwrap_or(b'?')
            }
            other => other,
        };
        out.push(next);
    }
    String::from_utf8_lossy(&out).into_owned()
}
