// Tells of moves: a ghost of the pod flies from its old place to its new one,
// and a live region names the moves, once a second at most.

import { plural } from "./format.js";
import { fullName, placeOf } from "./places.js";

const kMostGhosts = 30;
const kFlightMs = 420;
const kQuietMsBetween = 1000;

let shownPods = new Map();  // uid → the pod as it was last shown
let shownVersion = -1;
let news = [];
let lastNews = 0;

// Returns [uid, pod] of each pod whose place has changed since the last call.
function movedPods(tables) {
  if (tables.version === shownVersion && tables.pods.size === shownPods.size) {
    return [];
  }
  const moved = [];
  const isFirst = shownPods.size === 0;
  for (const [uid, pod] of tables.pods) {
    const before = shownPods.get(uid);
    if (before === pod || isFirst) continue;
    if (!before || placeOf(before) !== placeOf(pod)) moved.push([uid, pod]);
  }
  shownPods = new Map(tables.pods);
  shownVersion = tables.version;
  return moved;
}

// Renders, and shows the moves since the last time.
export function renderWithMoves(tables, render, layer) {
  const moved = movedPods(tables);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const ghosts = calm || moved.length > kMostGhosts ? [] : moved;
  const from = positionsOf(ghosts);
  render();
  const to = positionsOf(ghosts);
  for (const [uid, pod] of ghosts) {
    const target = to.get(uid);
    if (target) fly(from.get(uid), target, fullName(pod), layer);
  }
  for (const [, pod] of moved) {
    news.push(`${fullName(pod)}: ${placeOf(pod)}`);
  }
}

function positionsOf(pods) {
  const positions = new Map();
  for (const [uid] of pods) {
    const node = document.querySelector(`.places [data-uid="${
      CSS.escape(uid)}"]`);
    if (node) positions.set(uid, { node, box: node.getBoundingClientRect() });
  }
  return positions;
}

function fly(from, to, name, layer) {
  const timing = { duration: kFlightMs, easing: "cubic-bezier(.3,.1,.2,1)" };
  to.node.animate([{ opacity: 0 }, { opacity: 0, offset: 0.6 }, { opacity: 1 }],
    timing);
  if (!from || (from.box.x === to.box.x && from.box.y === to.box.y)) return;
  const ghost = document.createElement("span");
  ghost.className = "ghost";
  ghost.textContent = name.split("/").at(-1);
  ghost.style.left = `${from.box.x}px`;
  ghost.style.top = `${from.box.y}px`;
  layer.append(ghost);
  const way = `translate(${to.box.x - from.box.x}px, ${
    to.box.y - from.box.y}px)`;
  ghost.animate([{ transform: "none" }, { transform: way }], timing)
    .finished.finally(() => ghost.remove());
}

// Puts the news into the live region if the last ones are a second old.
export function announce(region) {
  const now = Date.now();
  if (news.length === 0 || now - lastNews < kQuietMsBetween) return;
  const more = news.length > 3 ? `; ${plural(news.length - 3, "more move")}` : "";
  region.textContent = news.slice(-3).join(", ") + more;
  news = [];
  lastNews = now;
}
