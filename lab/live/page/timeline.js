// The timeline: any earlier moment, step by step or played.

import { h, lazy } from "./dom.js";
import { clockText, durationText, plural } from "./format.js";
import { button, select } from "./parts.js";
import { change, feed, past, ui } from "./ui.js";

const kBuckets = 160;
const kLongestWaitMs = 1500;
const kSpeeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 20];

// Returns the sentence of an entry of the history.
function describe({ item, changes }) {
  const { pod, attempt, cluster, queue, scheduler } = item;
  if (pod) {
    const parts = [`${pod.name} → ${pod.place}`];
    if (pod.node) parts.push(`on ${pod.node}`);
    if (pod.event) parts.push(`after ${pod.event}`);
    if (pod.plugins) parts.push(`by ${pod.plugins.join(", ")}`);
    return parts.join(" ");
  }
  if (attempt) {
    return `${attempt.pod}, attempt ${attempt.attempt}: ${
      attempt.failure ?? `selected ${attempt.node}`}`;
  }
  if (cluster) {
    const [kind, row] = Object.entries(cluster)[0];
    const isKnown = changes[2]?.row || changes[2]?.name;
    const verb = row.deleted ? "deleted" : isKnown ? "changed" : "created";
    const namespace = row.namespace ? `${row.namespace}/` : "";
    return `${kind} ${namespace}${row.name} is ${verb}`;
  }
  if (queue) return `activeQ has a new order of ${plural(queue.length, "pod")}`;
  if (scheduler) return `the scheduler ${scheduler.paused ? "pauses" : "runs"}`;
  return item.live?.server ? `API server: ${item.live.server}` : "";
}

// Returns true if the entry is a step of the story: not a new order of activeQ,
// and no change of a pod other than its node.
function isMove({ item, changes }) {
  const row = item.cluster?.pod;
  if (!row) return Boolean(item.pod || item.attempt || item.cluster);
  if (row.deleted) return changes.length > 0;
  return !changes[2]?.row || changes[2].row.node !== row.node;
}

// Shows the moment at this position; at the end, what happens now.
function rewindTo(position, time) {
  if (position >= past.end && !ui.playing) return change({ rewound: null });
  const cursor = ui.rewound ?? past.cursor(position);
  past.move(cursor, position);
  cursor.time = time ?? past.timeAt(cursor.position);
  change({ rewound: cursor });
}

function showNow() {
  change({ rewound: null, playing: false });
}

function stop() {
  ui.playing = false;
  rewindTo(ui.rewound?.position ?? past.end);
}

function step(direction) {
  ui.playing = false;
  rewindTo(past.find(ui.rewound?.position ?? past.end, direction, isMove));
}

let lastFrame = 0;

function play() {
  const { position = past.end } = ui.rewound ?? {};
  ui.playing = true;
  rewindTo(position >= past.end ? past.start : position);
  lastFrame = performance.now();
  requestAnimationFrame(playOn);
}

// Moves the shown moment on. Shortens a wait in which nothing happens.
function playOn(frame) {
  if (!ui.playing || !ui.rewound) return;
  const { position, time } = ui.rewound;
  if (position >= past.end) return showNow();
  const elapsed = Math.max(frame - lastFrame, 0) * ui.speed;
  const soon = past.timeAt(position + 1) - kLongestWaitMs * ui.speed;
  const next = Math.max(time + elapsed, soon);
  lastFrame = frame;
  rewindTo(Math.max(past.positionAt(next), position), next);
  requestAnimationFrame(playOn);
}

// Returns the view of the timeline.
export function timelineView() {
  const from = past.timeAt(past.start);
  const to = Math.max(past.timeAt(past.end), from + 1);
  const shown = ui.rewound ? Math.min(ui.rewound.time, to) : to;
  const entry = ui.rewound && past.entry(ui.rewound.position);
  const tick = Math.ceil((to - from) / 500);
  const max = Math.ceil((to - from) / tick) * tick;  // so now can be chosen
  const isEmpty = past.end === past.start;
  const { recording } = feed.hello;
  const now = recording ? to : Math.max(feed.now(), to);
  const stepButton = (sign, label, direction, disabled) => button(sign,
    () => step(direction), { "aria-label": label, title: label, disabled });
  return [
    h("div.transport",
      stepButton("←", "Previous move", -1, isEmpty),
      ui.playing ? button("Stop", stop, { class: "primary" })
        : button("Play", play, { disabled: isEmpty }),
      stepButton("→", "Next move", 1, !ui.rewound),
      select("Speed", String(ui.speed),
        kSpeeds.map((speed) => [String(speed), `× ${speed}`]),
        (speed) => change({ speed: Number(speed) }))),
    h("div.track",
      lazy("activity", [Math.floor(to / 1000), past.start], activity),
      h("input", { type: "range", "aria-label": "Moment", min: "0",
        max: String(max), disabled: isEmpty, step: String(tick),
        value: String(ui.rewound ? Math.ceil(shown - from) : max),
        "aria-valuetext": clockText(shown), oninput: (event) => {
          const time = Math.min(from + Number(event.target.value), to);
          ui.playing = false;
          rewindTo(past.positionAt(time), time);
        } })),
    h("div.moment",
      h("strong", isEmpty ? "–" : clockText(shown)),
      ui.rewound ? ` ${durationText(now - shown)} ago `
        : recording ? " the end" : " latest change",
      ui.rewound && button(recording ? "To the end" : "Back to now", showNow,
        { class: "primary" })),
    h("p.sentence", entry ? describe(entry) : null),
  ];
}

// Returns a drawing of how much happened when: moves upwards, failed attempts
// downwards.
function activity() {
  const from = past.timeAt(past.start);
  const width = Math.max(past.timeAt(past.end) - from, 1);
  const moves = new Array(kBuckets).fill(0);
  const failures = new Array(kBuckets).fill(0);
  for (const entry of past.log) {
    const bucket = Math.floor(((kBuckets - 1) * (entry.time - from)) / width);
    const { attempt } = entry.item;
    if (attempt?.failure) ++failures[bucket];
    if (!attempt && isMove(entry)) ++moves[bucket];
  }
  return h("svg.activity", { viewBox: `0 0 ${kBuckets} 24`,
    preserveAspectRatio: "none", "aria-hidden": "true" },
  h("path", { d: bars(moves, -16) }),
  h("path.failures", { d: bars(failures, 7) }));
}

function bars(counts, height) {
  const most = Math.log(1 + Math.max(...counts));
  return counts.map((count, i) => (count > 0
    ? `M${i + 0.5} 16v${(height * Math.log(1 + count)) / most}` : "")).join("");
}
