// The page: puts the views together, and shows them at most once a frame.

import { announce, renderWithMoves } from "./announce.js";
import { attemptsView } from "./attempt.js";
import { headView, noticesView } from "./controls.js";
import { patch } from "./dom.js";
import { drawerView, hasDrafts } from "./drawer.js";
import { nodesView } from "./nodes.js";
import { updateTimers } from "./parts.js";
import { queueView } from "./queue.js";
import { embeddedSource } from "./recording.js";
import { serverSource } from "./source.js";
import { tablesView } from "./tables.js";
import { timelineView } from "./timeline.js";
import { change, feed, kViews, onChange, server, shownTables } from "./ui.js";
import { ui } from "./ui.js";

const kTimersMs = 100;
const kRefreshTablesMs = 3000;
// After a frame, the page rests for this many times as long as the frame took,
// so that a large cluster does not keep the browser busy.
const kRest = 6;

const parts = {};
for (const id of ["head", "notices", "main", "drawer", "timeline", "news",
  "ghosts"]) {
  parts[id] = document.getElementById(id);
}

let isDue = false;
let restUntil = 0;

function requestRender() {
  if (isDue) return;
  isDue = true;
  const rest = restUntil - performance.now();
  if (rest > 17) {
    setTimeout(() => requestAnimationFrame(render), rest);
  } else {
    requestAnimationFrame(render);
  }
}

function render() {
  isDue = false;
  const begin = performance.now();
  const tables = shownTables();
  renderWithMoves(tables, renderViews, parts.ghosts);
  updateTimers(document);
  announce(parts.news);
  const end = performance.now();
  restUntil = end + (end - begin) * kRest;
}

const kMain = {
  queue: () => [queueView(), nodesView()],
  attempts: () => attemptsView(),
  tables: () => tablesView(),
};

function renderViews() {
  const focused = document.activeElement;
  const { uid } = focused?.dataset ?? {};
  document.body.classList.toggle("rewound", Boolean(ui.rewound));
  document.body.classList.toggle("has-drawer", Boolean(ui.drawer));
  patch(parts.head, headView());
  patch(parts.notices, noticesView());
  patch(parts.main, kMain[ui.view]());
  patch(parts.drawer, drawerView());
  patch(parts.timeline, timelineView());
  if (focused === document.activeElement) return;
  if (focused.isConnected) {
    focused.focus({ preventScroll: true });
  } else if (uid) {
    // The pod has moved: the focus follows it.
    parts.main.querySelector(`[data-uid="${CSS.escape(uid)}"]`)
      ?.focus({ preventScroll: true });
  }
}

function showHash() {
  const view = location.hash.slice(1);
  if (kViews.includes(view)) change({ view });
}

onChange(() => {
  if (location.hash.slice(1) !== ui.view) {
    window.history.replaceState(null, "", `#${ui.view}`);
  }
  requestRender();
});
addEventListener("hashchange", showHash);
addEventListener("beforeunload", (event) => {
  if (hasDrafts()) event.preventDefault();
});
setInterval(() => {
  updateTimers(document);
  announce(parts.news);
}, kTimersMs);
setInterval(() => {
  if (ui.view === "tables" || ui.drawer || feed.status === "lost") change({});
}, kRefreshTablesMs);

showHash();
server.source = embeddedSource() ?? serverSource();
server.source.connect({
  start: (hello) => {
    change({ rewound: null, playing: false,
      allRejections: Boolean(hello.allRejections) });
    feed.start(hello);
  },
  resume: (hello) => feed.resume(hello),
  items: (text, isBase) => feed.items(text, isBase),
  lost: () => feed.lost(),
});
