// The way of items from a source into the history, in short slices.

const kSliceMs = 8;
const kQuietMs = 400;

// The state of the connection: "connecting", "catching up", "live" or "lost". A
// source calls start(), resume(), items() and lost().
export class Feed {
  constructor(history, onChange) {
    this.history = history;
    this.onChange = onChange;
    this.status = "connecting";
    this.hello = {};  // what the server says of itself
    this.offset = 0;  // the server's clock, less ours
    this.since = Date.now();  // when the status began
    this.pending = [];  // lists of items
    this.moment = null;  // the position to show first; null once it was shown
    this.timer = null;  // of the next slice
    this.quiet = null;  // ends the status "catching up"
  }

  // The server's time.
  now() {
    return Date.now() + this.offset;
  }

  start(hello) {
    this.pending = [];
    this.moment = hello.moment ?? null;
    this.history.reset();
    this.onChange({ rewound: null, playing: false });
    this.resume(hello);
  }

  resume(hello) {
    this.hello = hello;
    this.offset = Date.parse(hello.time) - Date.now();
    this.#become("catching up");
    this.#awaitQuiet();
  }

  lost() {
    clearTimeout(this.quiet);
    this.#become("lost");
  }

  // Takes the text of a list of items. Those of the base come before the
  // timeline begins.
  items(text, isBase) {
    const items = JSON.parse(text);
    const size = text.length / Math.max(items.length, 1);
    this.pending.push({ items, size, isBase, next: 0 });
    if (this.status === "catching up") this.#awaitQuiet();
    if (this.timer === null) this.#apply();
  }

  #apply() {
    const end = performance.now() + kSliceMs;
    while (this.pending.length > 0 && performance.now() < end) {
      this.#applySome(this.pending[0], 100);
    }
    this.timer = this.pending.length === 0 ? null
      : setTimeout(() => this.#apply(), 0);
    this.onChange(this.#choices());
  }

  // Returns the choices of the page. Once all items before the first moment to
  // show have come, it is chosen, as if the reader had dragged the timeline.
  #choices() {
    if (this.moment === null || this.history.end < this.moment) return {};
    const rewound = this.history.cursor(this.moment);
    rewound.time = this.history.timeAt(rewound.position);
    this.moment = null;
    return { rewound };
  }

  #applySome(list, n) {
    const end = Math.min(list.next + n, list.items.length);
    while (list.next < end) {
      const item = list.items[list.next++];
      if (list.isBase) {
        this.history.addBase(item);
      } else {
        this.history.add(item, list.size);
      }
    }
    if (end === list.items.length) this.pending.shift();
  }

  // The page has caught up when the old items, which come at once, have come.
  #awaitQuiet() {
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => {
      if (this.pending.length > 0) return this.#awaitQuiet();
      this.#become("live");
    }, this.now() - this.history.timeAt(this.history.end) < kQuietMs
      ? 0 : kQuietMs);
  }

  #become(status) {
    if (this.status === status) return;
    this.status = status;
    this.since = Date.now();
    this.onChange();
  }
}
