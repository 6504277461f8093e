// The timeline: any earlier moment, step by step or played.

import { describe, isMove } from "./describe.js";
import { h, lazy } from "./dom.js";
import { clockText, durationText } from "./format.js";
import { change, feed, past, ui } from "./ui.js";

const kBuckets = 160;
const kLongestWaitMs = 1500;
const kSpeeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 20];

// Shows the moment at this position; at the end, what happens now.
export function rewindTo(position, time) {
  const isNow = position >= past.end && !ui.playing;
  if (isNow) return change({ rewound: null });
  const cursor = ui.rewound ?? past.cursor(position);
  past.move(cursor, position);
  cursor.time = time ?? past.timeAt(cursor.position);
  change({ rewound: cursor });
}

export function showNow() {
  change({ rewound: null, playing: false });
}

function pauseHere() {
  ui.playing = false;
  rewindTo(ui.rewound?.position ?? past.end - 1);
}

function step(direction) {
  ui.playing = false;
  rewindTo(past.find(ui.rewound?.position ?? past.end, direction, isMove));
}

let lastFrame = 0;

function play() {
  const isAtEnd = !ui.rewound || ui.rewound.position >= past.end;
  ui.playing = true;
  rewindTo(isAtEnd ? past.start : ui.rewound.position);
  lastFrame = performance.now();
  requestAnimationFrame(playOn);
}

// Moves the shown moment on. Shortens a wait in which nothing happens.
function playOn(frame) {
  if (!ui.playing || !ui.rewound) return;
  const { position } = ui.rewound;
  const elapsed = Math.max(frame - lastFrame, 0) * ui.speed;
  lastFrame = frame;
  if (position >= past.end) return showNow();
  const next = past.timeAt(position + 1);
  const time = Math.max(ui.rewound.time + elapsed,
    next - kLongestWaitMs * ui.speed);
  rewindTo(Math.max(past.positionAt(time), position), time);
  requestAnimationFrame(playOn);
}

// Returns the view of the timeline.
export function timelineView() {
  const from = past.log[0]?.time ?? 0;
  const to = Math.max(past.timeAt(past.end), from + 1);
  const shown = ui.rewound ? Math.min(ui.rewound.time, to) : to;
  const entry = past.entry(ui.rewound?.position ?? past.end);
  const isEmpty = past.log.length === 0;
  const sentence = ui.rewound && entry ? describe(entry) : "";
  return [
    h("div", { class: "transport" },
      button("←", "Previous move", isEmpty, () => step(-1)),
      ui.playing
        ? h("button", { class: "primary", onclick: pauseHere }, "Stop")
        : h("button", { disabled: isEmpty, onclick: play }, "Play"),
      button("→", "Next move", isEmpty || !ui.rewound, () => step(1)),
      h("label", null, h("span", { class: "hidden" }, "Speed"),
        h("select", { value: String(ui.speed),
          onchange: (event) => change({ speed: Number(event.target.value) }) },
        kSpeeds.map((speed) =>
          h("option", { key: speed, value: String(speed),
            selected: speed === ui.speed }, `× ${speed}`))))),
    h("div", { class: "track" },
      lazy("activity", [Math.floor(to / 1000), past.start], activity),
      h("input", { type: "range", "aria-label": "Moment", min: "0",
        max: String(Math.ceil(to - from)), disabled: isEmpty,
        step: String(Math.max(1, Math.ceil((to - from) / 500))),
        "aria-valuetext": clockText(shown), value: String(Math.round(shown - from)),
        oninput: (event) => {
          const time = from + Number(event.target.value);
          ui.playing = false;
          rewindTo(past.positionAt(time), time);
        } })),
    h("div", { class: "moment" },
      h("strong", null, isEmpty ? "–" : clockText(shown)),
      ui.rewound
        ? h("span", null, ` ${durationText(endNow(to) - shown)} ago `)
        : h("span", null, feed.hello.recording ? " the end" : " now"),
      ui.rewound && h("button", { class: "primary", onclick: showNow },
        feed.hello.recording ? "To the end" : "Back to now")),
    h("p", { class: "sentence", title: sentence }, sentence),
  ];
}

function endNow(last) {
  return feed.hello.recording ? last : Math.max(feed.now(), last);
}

function button(sign, label, disabled, onclick) {
  return h("button", { "aria-label": label, title: label, disabled, onclick },
    h("span", { "aria-hidden": "true" }, sign));
}

// Returns a drawing of how much happened when: moves upwards, failed attempts
// downwards.
function activity() {
  const from = past.log[0]?.time ?? 0;
  const width = Math.max(past.timeAt(past.end) - from, 1);
  const moves = new Array(kBuckets).fill(0);
  const failures = new Array(kBuckets).fill(0);
  for (const { time, item } of past.log) {
    const bucket = Math.min(Math.floor((kBuckets * (time - from)) / width),
      kBuckets - 1);
    if (item.pod) ++moves[bucket];
    if (item.attempt?.failure) ++failures[bucket];
  }
  return h("svg", { viewBox: `0 0 ${kBuckets} 24`, preserveAspectRatio: "none",
    class: "activity", "aria-hidden": "true" },
  h("path", { class: "moves", d: bars(moves, 16, -1) }),
  h("path", { class: "failures", d: bars(failures, 7, 1) }));
}

function bars(counts, height, direction) {
  const most = Math.log(1 + Math.max(1, ...counts));
  return counts.map((count, i) => count > 0
    ? `M${i + 0.5} 16v${(direction * height * Math.log(1 + count)) / most}`
    : "").join("");
}
