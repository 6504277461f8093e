// The past: all changes in order, up to a limit. A cursor is a moment of the
// past whose tables equal those that were shown live.

import { applyItem, copyTables, createTables, redo, undo } from "./state.js";

const kMaxItems = 60000;
const kMaxSize = 16 << 20;

// The tables of now, and the changes that lead to them. A *position* is the
// number of items before a moment; the newest moment is at `end`.
export class History {
  constructor(maxItems = kMaxItems, maxSize = kMaxSize) {
    this.maxItems = maxItems;
    this.maxSize = maxSize;
    this.reset();
  }

  // Forgets everything.
  reset() {
    this.tables = createTables();
    this.log = [];  // {time, item, changes, size}
    this.start = 0;  // the position before log[0]
    this.size = 0;
  }

  // The newest position.
  get end() {
    return this.start + this.log.length;
  }

  // Applies an item that was there before the timeline begins.
  addBase(item) {
    applyItem(this.tables, item);
  }

  // Applies an item. `size` is the length of its JSON. Times in the log never
  // go back, though rows and records come from two clocks.
  add(item, size) {
    const changes = applyItem(this.tables, item);
    const last = this.log.at(-1)?.time ?? 0;
    const time = Math.max(last, Date.parse(item.time) || 0);
    this.log.push({ time, item, changes, size });
    this.size += size;
    if (this.log.length <= this.maxItems && this.size <= this.maxSize) return;
    // Drops an eighth of the log at once, as each drop moves the rest.
    const dropped = this.log.splice(0, Math.ceil(this.log.length / 8));
    this.start += dropped.length;
    for (const entry of dropped) this.size -= entry.size;
  }

  // Returns the entry whose item led to this position, or undefined.
  entry(position) {
    return this.log[position - this.start - 1];
  }

  // Returns the time of the moment at this position.
  timeAt(position) {
    return (this.entry(position) ?? this.log[0])?.time ?? 0;
  }

  // Returns the last position whose time is not after `time`.
  positionAt(time) {
    let low = this.start;
    let high = this.end;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.timeAt(middle) <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Returns the next position, or with `step` -1 the previous one, whose entry
  // passes the test; else the end or the start.
  find(position, step, test) {
    for (let p = position + step; p > this.start && p < this.end; p += step) {
      if (test(this.entry(p))) return p;
    }
    return step < 0 ? this.start : this.end;
  }

  // Returns a cursor at this position.
  cursor(position) {
    const cursor = { tables: copyTables(this.tables), position: this.end };
    this.move(cursor, position);
    return cursor;
  }

  // Moves a cursor. A position before the start moves it to the start. A cursor
  // that was left behind the start comes along with it.
  move(cursor, position) {
    if (cursor.position < this.start) {
      Object.assign(cursor, this.cursor(this.start));
    }
    const to = Math.min(Math.max(position, this.start), this.end);
    while (cursor.position > to) {
      undo(cursor.tables, this.entry(cursor.position--).changes);
    }
    while (cursor.position < to) {
      redo(cursor.tables, this.entry(++cursor.position).changes);
    }
  }
}
