// The source of a page that was exported to one file: a recording in the page
// itself, and no server.

// Returns the source, or null if the page has no recording.
export function embeddedSource() {
  const element = document.getElementById("recording");
  if (!element) return null;
  const none = async () =>
    ({ ok: false, error: "This page is a recording: it has no API server." });
  let attempts = {};
  return {
    connect: async (listener) => {
      const content = await unpack(element.textContent);
      attempts = content.attempts ?? {};
      listener.start({ ...content.start, control: false, reset: false,
        recording: true });
      listener.items(JSON.stringify(content.base ?? []), true);
      listener.items(JSON.stringify(content.items), false);
    },
    attempt: async (uid, number) => {
      const attempt = attempts[`${uid}/${number}`];
      return attempt
        ? { ok: true, text: JSON.stringify(attempt) }
        : { ok: false, error: "The recording has only the counts of it." };
    },
    table: none, read: none, write: none, post: none, load: none,
  };
}

// Reads base64 of gzip of JSON.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
