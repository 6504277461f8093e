// Where the items come from, and who receives requests: the server of this
// page, or a recording in the page itself.

const kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const kRetryMs = 2000;

// Returns the source of a served page. Requests return {ok, text} or, if they
// fail, {ok: false, error, line, column}.
export function serverSource() {
  const json = "application/json";
  const yaml = "application/yaml";
  return {
    connect: connectEvents,
    attempt: (uid, number) =>
      send("GET", `attempts/${encodeURIComponent(uid)}/${number}`),
    table: (path) => send("GET", `api${path}`, { accept: kTable }),
    read: (path) => send("GET", `api${path}`, { accept: yaml }),
    write: (method, path, body) =>
      send(method, `api${path}`, { body, type: body && yaml }),
    post: (name, values) =>
      send("POST", name, { body: JSON.stringify(values ?? {}), type: json }),
    load: (body, isJson) =>
      send("POST", "import", { body, type: isJson ? json : yaml }),
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
  let text;
  try {
    const response = await fetch(`live/${path}`, { method, body, headers });
    text = await response.text();
    if (response.ok) return { ok: true, text };
  } catch {
    return { ok: false, error: "The server of this page does not respond." };
  }
  try {
    const { error, message, line, column } = JSON.parse(text);
    return { ok: false, error: error ?? message, line, column };
  } catch {
    return { ok: false, error: text || "The server gave no reason." };
  }
}

// Returns the source of a page that was exported to one file: a recording in
// the page itself, without an API server. Returns null if the page has none.
export function embeddedSource() {
  const element = document.getElementById("recording");
  if (!element) return null;
  let content;  // its attempts have indexes of its lists
  return {
    connect: async (listener) => {
      content = await unpack(element.textContent);
      listener.start(content.start);
      listener.items(JSON.stringify(content.items), false);
    },
    attempt: async (uid, number) => {
      const attempt = { ...content.attempts[`${uid}/${number}`]?.attempt };
      for (const name of ["fits", "rejected", "scores"]) {
        attempt[name] = content.lists[attempt[name]];
      }
      return attempt.uid ? { ok: true, text: JSON.stringify({ attempt }) }
        : { ok: false, error: "The recording has only the counts of it." };
    },
  };
}

// Reads base64 of gzip of JSON.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
