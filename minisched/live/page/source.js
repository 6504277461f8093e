// The server that this page comes from: its events, and requests to it. Another
// source, such as a recording in the page itself, has the same members.

const kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const kRetryMs = 2000;

// Returns the source of a served page. Requests return {ok, status, text} or,
// if they fail, {ok: false, status, error, line, column}.
export function serverSource() {
  return {
    connect: connectEvents,
    attempt: (uid, number) =>
      send("GET", `live/attempts/${encodeURIComponent(uid)}/${number}`),
    table: (path) => send("GET", `live/api${path}`, { accept: kTable }),
    read: (path) => send("GET", `live/api${path}`,
      { accept: "application/yaml" }),
    write: (method, path, yaml) => send(method, `live/api${path}`,
      { body: yaml, type: "application/yaml" }),
    post: (name, values) => send("POST", `live/${name}`,
      { body: JSON.stringify(values ?? {}), type: "application/json" }),
    load: (text, isJson) => send("POST", "live/import",
      { body: text, type: isJson ? "application/json" : "application/yaml" }),
  };
}

// Calls the listener's start(), resume(), items() and lost() as they happen,
// now and after each loss of the connection.
function connectEvents(listener) {
  const events = new EventSource("live/events");
  events.addEventListener("start", (e) => listener.start(JSON.parse(e.data)));
  events.addEventListener("resume", (e) => listener.resume(JSON.parse(e.data)));
  events.addEventListener("base", (e) => listener.items(e.data, true));
  events.addEventListener("message", (e) => listener.items(e.data, false));
  events.addEventListener("error", () => {
    listener.lost();
    if (events.readyState !== EventSource.CLOSED) return;
    setTimeout(() => connectEvents(listener), kRetryMs);
  });
}

async function send(method, path, { body, type, accept } = {}) {
  const headers = {};
  if (type) headers["Content-Type"] = type;
  if (accept) headers.Accept = accept;
  try {
    const response = await fetch(path, { method, body, headers });
    const text = await response.text();
    if (response.ok) return { ok: true, status: response.status, text };
    return { ok: false, status: response.status, ...errorOf(text, response) };
  } catch {
    return { ok: false, status: 0,
      error: "The server of this page does not respond." };
  }
}

// Returns the error of the page's server, or the message of a Status.
function errorOf(text, response) {
  try {
    const { error, message, line, column } = JSON.parse(text);
    return { error: error ?? message, line, column };
  } catch {
    return { error: text || `${response.status} ${response.statusText}` };
  }
}
