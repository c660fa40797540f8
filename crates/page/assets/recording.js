// The recording: 60 seconds of one client or of all, and its page.

let lastState = "none";

async function record(client) {
  try {
    await post("/recording", { client, seconds: 60 });
    announce("The recording has begun.");
  } catch (error) {
    announce("No recording: " + error.message + ".");
  }
}

const act = (path, text) => async () => {
  try { await post(path, {}); announce(text); } catch (error) { announce(error.message); }
};

function drawRecording(recording, clients) {
  const box = byId("recording-body");
  const client = clients.find((it) => it.client === recording.client);
  const who = recording.client === null || recording.client === undefined ? "all clients" : client ? client.name || client.address : "client " + recording.client;
  if (recording.state !== lastState) {
    if (recording.state === "done") announce("The recording is finished.");
    lastState = recording.state;
  }
  const key = [recording.state, recording.id, who, recording.error, recording.full];
  renew(box, key, () => parts(recording, who));
  const left = byId("recording-left");
  if (left) say(left, recording.state === "recording" ? recording.seconds_left + " s left, " + bytes(recording.bytes) : recording.state === "done" ? bytes(recording.bytes) + ", deleted in " + time(recording.seconds_left) : "");
}

function parts(recording, who) {
  const all = el("button", { type: "button", onclick: () => record(null) }, "Record all clients for 60 s");
  const left = el("span", { id: "recording-left", class: "faint" });
  switch (recording.state) {
    case "recording":
      return [el("p", {}, "Records " + who + ". ", left), el("div", { class: "tools" }, el("button", { type: "button", onclick: act("/recording/end", "The recording ends.") }, "End now"))];
    case "explaining":
      return [el("p", {}, "Explains the recording of " + who + " …")];
    case "done": {
      const links = [
        recording.error ? null : el("a", { class: "button", href: "/recording/" + recording.id + ".html", target: "_blank", rel: "noopener" }, "Explanation"),
        el("a", { class: "button", href: "/recording/" + recording.id + ".pcapng", download: true }, "Capture"),
        el("button", { type: "button", onclick: act("/recording/delete", "The recording is deleted.") }, "Delete"), all];
      return [el("p", {}, "Recorded " + who + ". ", left), recording.full ? el("p", { class: "faint" }, "The recording reached its size limit.") : null,
        recording.error ? el("p", { class: "wrong" }, "There is no explanation: " + recording.error) : null, el("div", { class: "tools" }, links)];
    }
    default:
      return [el("p", { class: "faint" }, "A recording is a capture of what clients send and get, with its explanation. It contains file data and log-ons as on the wire."), el("div", { class: "tools" }, all)];
  }
}
