// What the reader has chosen to see, and where the shown moment comes from.

import { Feed } from "./feed.js";
import { History } from "./history.js";

// The choices. change() sets them.
export const ui = {
  view: "queue", playing: false, speed: 1,
  search: "", nodeSearch: "", attemptSearch: "", tableSearch: "",
  namespace: "",  // the only one whose objects are shown; "": all
  more: {},  // the place or table → how many rows it shows
  open: {},  // the group of pods → whether it is open
  nodesAs: null,  // "cards" or "squares"; null: by their number
  drawer: null,  // {kind, namespace, name, uid}, {create: kind}, or null
  attempt: null,  // {uid, number}; null: the newest attempt
  weights: {},  // plugin → its supposed weight
  kind: "Pod", sort: { column: "Name", down: false },  // of the table
  rewound: null,  // the cursor of the past moment that is shown, or null
  // The result of the last action or render: {text, isError, isOfRender}.
  notice: null,
};

const listeners = [];

// Calls the function after each change.
export function onChange(listener) {
  listeners.push(listener);
}

// Makes these choices, and shows them.
export function change(choices = {}) {
  Object.assign(ui, choices);
  for (const listener of listeners) listener();
}

export const past = new History();
export const feed = new Feed(past, change);

// Where items come from, and what receives requests; main.js sets it.
export const server = { source: null };

// Returns the tables of the shown moment.
export const shownTables = () => ui.rewound?.tables ?? past.tables;

// Returns the end of a title of data that are always as of now.
export const asOfNow = () => ui.rewound ? ", as of now" : "";

// Returns the time of the shown moment.
export function shownNow() {
  if (ui.rewound) return ui.rewound.time;
  return feed.hello.recording ? past.timeAt(past.end) : feed.now();
}

// Returns true if the page may change the cluster or the scheduler now.
export const canControl = () =>
  Boolean(feed.hello.control) && feed.status !== "lost";

// Sends a request, and shows its failure, or else this text.
export async function act(request, done) {
  const result = await request;
  if (!result.ok) change({ notice: { text: result.error, isError: true } });
  if (result.ok) change({ notice: done ? { text: done } : null });
  return result;
}

// Opens the drawer with a pod, whose name is "namespace/name".
export function openPod(uid, fullName) {
  const [namespace, name] = fullName.split("/");
  change({ drawer: { kind: "Pod", namespace, name, uid } });
}

export function openNode({ uid, name }) {
  change({ drawer: { kind: "Node", name, uid } });
}

// Shows an attempt in its view.
export function openAttempt(uid, number) {
  change({ view: "attempts", attempt: { uid, number }, weights: {} });
}

// Returns whether a name or another text has the text of a search field.
export const isFound = (text, choice) =>
  text.toLowerCase().includes(ui[choice].trim().toLowerCase());

// Returns the mark of the object in the drawer, for an element's attribute.
export const currentIf = (isCurrent) => isCurrent ? "true" : null;
