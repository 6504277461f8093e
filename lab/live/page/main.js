// The page: puts the views together, and shows them at most once a frame.

import { announce, renderWithMoves } from "./announce.js";
import { attemptsView } from "./attempt.js";
import { headView, noticesView } from "./controls.js";
import { patch } from "./dom.js";
import { drawerView } from "./drawer.js";
import { hasDrafts } from "./editor.js";
import { nodesView } from "./nodes.js";
import { updateTimers } from "./parts.js";
import { queueView } from "./queue.js";
import { embeddedSource, serverSource } from "./source.js";
import { tablesView } from "./tables.js";
import { timelineView } from "./timeline.js";
import { change, feed, onChange, server, shownTables, ui } from "./ui.js";

const kTimersMs = 100;
const kRedrawMs = 3000;
// After a frame, the page rests for this many times as long as the frame took,
// so that a large cluster does not keep the browser busy.
const kRest = 3;

// The parts of index.html by their ids.
const page = Object.fromEntries([...document.querySelectorAll("body [id]")]
  .map((node) => [node.id, node]));

let isDue = false;
let isResting = false;

function requestRender() {
  if (isDue) return;
  isDue = true;
  if (!isResting) requestAnimationFrame(render);
}

function render() {
  const begin = performance.now();
  isDue = false;
  isResting = true;
  try {
    const isQuiet = feed.status !== "live" && !ui.rewound;
    renderWithMoves(shownTables(), isQuiet, renderViews, page.ghosts);
    if (ui.notice?.isOfRender) change({ notice: null });
    updateTimers();
    announce(page.news);
  } catch (error) {
    ui.notice = { isError: true, isOfRender: true,
      text: `The page cannot show this: ${error}` };
    patch(page.notices, noticesView());
    throw error;
  } finally {
    // The browser lays out and paints before the first of these functions runs.
    setTimeout(() => setTimeout(() => {
      isResting = false;
      if (isDue) requestAnimationFrame(render);
    }, (performance.now() - begin) * kRest));
  }
}

const kMain = { queue: () => [queueView(), nodesView()],
  attempts: attemptsView, tables: tablesView };

function renderViews() {
  const focused = document.activeElement;
  const { uid } = focused.dataset;
  const isInDrawer = page.drawer.contains(focused);
  document.body.classList.toggle("rewound", Boolean(ui.rewound));
  patch(page.head, headView());
  patch(page.notices, noticesView());
  patch(page.main, kMain[ui.view]());
  patch(page.drawer, drawerView());
  patch(page.timeline, timelineView());
  const isKept = focused.isConnected && !focused.disabled;
  // The focus follows a pod, and stays in the drawer if a button there goes.
  const node = isKept ? focused
    : uid ? page.main.querySelector(`[data-uid="${CSS.escape(uid)}"]`)
    : isInDrawer ? page.drawer.querySelector("h2") : null;
  node?.focus({ preventScroll: true });
}

function showHash() {
  const view = location.hash.slice(1);
  if (kMain[view]) change({ view });
}

// The address follows the view, but only when the view changes: the address is
// a step ahead of the view from a click on a link until "hashchange".
let viewOfHash = null;
onChange(() => {
  const hash = `#${ui.view}`;
  const isNew = viewOfHash !== ui.view;
  viewOfHash = ui.view;
  if (isNew && location.hash !== hash) history.replaceState(null, "", hash);
  requestRender();
});
addEventListener("hashchange", showHash);
addEventListener("beforeunload", (e) => hasDrafts() && e.preventDefault());
setInterval(() => {
  updateTimers();
  announce(page.news);
}, kTimersMs);
setInterval(() => change(), kRedrawMs);

document.body.classList.toggle("framed", window.parent !== window);
showHash();
server.source = embeddedSource() ?? serverSource();
server.source.connect(feed);
