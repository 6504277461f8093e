// The way of the items from a source into the history, in slices that leave the
// page time to respond.

import { parseTime } from "./format.js";

const kSliceMs = 8;
const kQuietMs = 400;

// The state of the connection: "connecting", "catching up", "live" or "lost".
export class Feed {
  constructor(history, onChange) {
    this.history = history;
    this.onChange = onChange;
    this.status = "connecting";
    this.hello = {};  // what the server says of itself
    this.offset = 0;  // the server's clock, less ours
    this.since = Date.now();  // when the status began
    this.pending = [];  // lists of items
    this.timer = null;
    this.quiet = null;
  }

  // The server's time.
  now() {
    return Date.now() + this.offset;
  }

  start(hello) {
    this.#greet(hello);
    this.pending = [];
    this.history.reset();
  }

  resume(hello) {
    this.#greet(hello);
  }

  #greet(hello) {
    this.hello = hello;
    this.offset = parseTime(hello.time) - Date.now();
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
    this.timer = null;
    const end = performance.now() + kSliceMs;
    while (this.pending.length > 0 && performance.now() < end) {
      this.#applySome(this.pending[0], 100);
    }
    if (this.pending.length > 0) {
      this.timer = setTimeout(() => this.#apply(), 0);
    }
    this.onChange();
  }

  #applySome(list, n) {
    const end = Math.min(list.next + n, list.items.length);
    for (; list.next < end; ++list.next) {
      if (list.isBase) {
        this.history.addBase(list.items[list.next]);
      } else {
        this.history.add(list.items[list.next], list.size);
      }
    }
    if (list.next === list.items.length) this.pending.shift();
  }

  // The page has caught up when the old items have come, which come at once.
  #awaitQuiet() {
    clearTimeout(this.quiet);
    const behind = this.now() - this.history.timeAt(this.history.end);
    const isOld = this.history.end > 0 && behind > kQuietMs;
    this.quiet = setTimeout(() => {
      if (this.pending.length > 0) return this.#awaitQuiet();
      this.#become("live");
    }, isOld || this.pending.length > 0 ? kQuietMs : kQuietMs / 4);
  }

  #become(status) {
    if (this.status === status) return;
    this.status = status;
    this.since = Date.now();
    this.onChange();
  }
}
