// Tells of moves: a ghost of the pod flies from its old place to its new one,
// and a live region names the moves, once a second at most.

import { plural } from "./format.js";
import { fullName, placeOf } from "./places.js";

const kMostGhosts = 30;
const kFlightMs = 420;
const kNewsMs = 1000;
const kNamed = 3;
const kMostForgotten = 1000;

const shownPods = new Map();  // uid → the pod as it was last shown
let shownTable = null;
let news = [];
let newsCount = 0;
let lastNews = 0;

// Returns [uid, pod] of each pod whose place has changed since the last call.
// Other tables, those of a past moment, are no moves.
function movedPods(tables, isQuiet) {
  const isOther = isQuiet || shownTable !== tables.pods ||
    shownPods.size > tables.pods.size + kMostForgotten;
  if (isOther) shownPods.clear();
  shownTable = tables.pods;
  const moved = [];
  for (const entry of tables.pods) {
    const [uid, pod] = entry;
    const before = shownPods.get(uid);
    if (before === pod) continue;
    shownPods.set(uid, pod);
    const isSame = before && placeOf(before) === placeOf(pod);
    if (!isOther && !isSame) moved.push(entry);
  }
  return moved;
}

// Renders, and shows the moves since the last time, unless they are old ones
// that the page catches up with.
export function renderWithMoves(tables, isQuiet, render, layer) {
  const moved = movedPods(tables, isQuiet);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const ghosts = calm || moved.length > kMostGhosts ? [] : moved;
  const from = positionsOf(ghosts);
  render();
  const to = positionsOf(ghosts);
  for (const [uid, pod] of ghosts) {
    const target = to.get(uid);
    if (target) fly(from.get(uid), target, fullName(pod), layer);
  }
  newsCount += moved.length;
  news = [...news, ...moved.slice(-kNamed).map(([, pod]) =>
    `${fullName(pod)}: ${placeOf(pod)}`)].slice(-kNamed);
}

// Returns where the pods are on the screen: a map from the uid to {node, x, y}.
function positionsOf(pods) {
  const positions = new Map();
  for (const [uid] of pods) {
    const node = document.querySelector(
      `.places [data-uid="${CSS.escape(uid)}"]`);
    const { x, y } = node?.getBoundingClientRect() ?? {};
    if (node) positions.set(uid, { node, x, y });
  }
  return positions;
}

function fly(from, to, name, layer) {
  const timing = { duration: kFlightMs, easing: "cubic-bezier(.3,.1,.2,1)" };
  to.node.animate([{ opacity: 0 }, { opacity: 0, offset: 0.6 }, { opacity: 1 }],
    timing);
  if (!from || (from.x === to.x && from.y === to.y)) return;
  const ghost = document.createElement("span");
  ghost.className = "ghost";
  ghost.textContent = name.split("/").at(-1);
  layer.append(ghost);
  const at = ({ x, y }) => ({ transform: `translate(${x}px, ${y}px)` });
  ghost.animate([at(from), at(to)], timing)
    .finished.finally(() => ghost.remove());
}

// Puts the news into the live region if the last ones are a second old.
export function announce(region) {
  const now = Date.now();
  if (newsCount === 0 || now - lastNews < kNewsMs) return;
  const others = newsCount - news.length;
  const more = others > 0 ? `, and ${plural(others, "more move")}` : "";
  region.textContent = news.join(", ") + more;
  news = [];
  newsCount = 0;
  lastNews = now;
}
