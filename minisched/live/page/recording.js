// The source of a page that was exported to one file: a recording in the page
// itself, and no server.

// Returns the source, or null if the page has no recording.
export function embeddedSource() {
  const element = document.getElementById("recording");
  if (!element) return null;
  const none = async () =>
    ({ ok: false, error: "This page is a recording: it has no API server." });
  let attempts = {};
  let lists = [];
  return {
    connect: async (listener) => {
      const content = await unpack(element.textContent);
      attempts = content.attempts ?? {};
      lists = content.lists ?? [];
      listener.start({ ...content.start, control: false, reset: false,
        recording: true });
      listener.items(JSON.stringify(content.base ?? []), true);
      listener.items(JSON.stringify(content.items), false);
    },
    attempt: async (uid, number) => {
      const record = attempts[`${uid}/${number}`];
      return record
        ? { ok: true, text: JSON.stringify(withLists(record, lists)) }
        : { ok: false, error: "The recording has only the counts of it." };
    },
    table: none, read: none, write: none, post: none, load: none,
  };
}

// Returns a record of an attempt with its lists of nodes and scores, of which
// it has the indexes: attempts share equal lists.
function withLists(record, lists) {
  const attempt = { ...record.attempt };
  for (const name of ["fits", "rejected", "scores"]) {
    if (name in attempt) attempt[name] = lists[attempt[name]];
  }
  return { ...record, attempt };
}

// Reads base64 of gzip of JSON.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
