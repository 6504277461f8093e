// What the reader has chosen to see, and where the shown moment comes from.

import { Feed } from "./feed.js";
import { History } from "./history.js";

export const kViews = ["queue", "attempts", "tables"];

// The choices. change() sets them.
export const ui = {
  view: "queue",
  search: "",  // of pods
  nodeSearch: "",
  more: {},  // the place or table → how many rows it shows
  drawer: null,  // {kind, namespace, name, uid}, {create: kind}, or null
  attempt: null,  // {uid, number}; null: the newest attempt
  weights: {},  // plugin → its supposed weight
  attemptSearch: "",
  kind: "Pod",  // of the table
  tableSearch: "",
  sort: { column: "Name", down: false },
  rewound: null,  // the cursor of the past moment that is shown, or null
  playing: false,
  speed: 1,
  allRejections: false,
  notice: null,  // {text, isError}: the result of the last action
};

const listeners = [];

// Calls the function after each change.
export function onChange(listener) {
  listeners.push(listener);
}

// Makes these choices, and shows them.
export function change(choices) {
  Object.assign(ui, choices);
  for (const listener of listeners) listener();
}

export const past = new History();
export const feed = new Feed(past, () => change({}));

// Where items come from, and what receives requests; main.js sets it.
export const server = { source: null };

// Returns the tables of the shown moment.
export function shownTables() {
  return ui.rewound?.tables ?? past.tables;
}

// Returns the time of the shown moment.
export function shownNow() {
  if (ui.rewound) return ui.rewound.time;
  if (feed.hello.recording) return past.timeAt(past.end);
  return feed.now();
}

// Returns true if the page may change the cluster or the scheduler now.
export function canControl() {
  return Boolean(feed.hello.control) && feed.status !== "lost";
}

// Sends a request, and shows a failure, or else this text.
export async function act(request, done) {
  const result = await request;
  if (!result.ok) {
    change({ notice: { text: result.error, isError: true } });
  } else if (done || ui.notice?.isError) {
    change({ notice: done ? { text: done } : null });
  }
  return result;
}

// Opens the drawer with a pod or a node of the tables.
export function openPod(uid, pod) {
  const name = pod.row?.name ?? pod.record.name.split("/").at(-1);
  const namespace = pod.row?.namespace ?? pod.record.name.split("/")[0];
  change({ drawer: { kind: "Pod", namespace, name, uid } });
}

export function openNode(row) {
  change({ drawer: { kind: "Node", name: row.name, uid: row.uid } });
}

// Shows an attempt in its view.
export function openAttempt(uid, number) {
  change({ view: "attempts", attempt: { uid, number }, weights: {} });
}
