// The scheduling queue: the places of the pods, in the order in which a pod
// goes through them.

import { h, lazy } from "./dom.js";
import { countText, parseTime, requestsText } from "./format.js";
import { badge, moreLine, pluginNames, podButton } from "./parts.js";
import { rowLimit, searchField, timer, timerBar } from "./parts.js";
import { arrangePods, firstOf, fullName, groupOf } from "./places.js";
import { rankIn } from "./places.js";
import { act, canControl, feed, server, shownNow } from "./ui.js";
import { shownTables, ui } from "./ui.js";

const kFirst = 60;
const kLateMs = 1500;

// The places: how they are called, and how pods come and go there. `rare` ones
// are shown from the first pod on. In those of the second row, pods wait for
// something.
const kPlaces = [
  { place: "unscheduled", title: "unscheduled", rare: true,
    hint: "known to the API server only" },
  { place: "active", title: "activeQ", hint: "the first is the next →" },
  { place: "in flight", title: "in flight", hint: "is being scheduled →" },
  { place: "waiting", title: "waiting", rare: true,
    hint: "on Permit, with a node held" },
  { place: "assumed", title: "assumed", rare: true,
    hint: "the Binding is under way →" },
  { place: "bound", title: "bound", hint: "newest first" },
  { place: "gated", title: "gated", rare: true, waits: true,
    hint: "↑ when ungated" },
  { place: "backoff", title: "backoffQ", rare: true, waits: true,
    hint: "↑ when the time is over" },
  { place: "unschedulable", title: "unschedulable", waits: true,
    hint: "← when an event may help" },
];

// Returns the view of the queue.
export function queueView() {
  const tables = shownTables();
  const places = arrangePods(tables, feed.hello.scheduler);
  const withNamespace = hasNamespaces(places);
  const shown = kPlaces.filter((p) => isShown(p, places, tables));
  return h("section", { key: "queue", class: "queue", "aria-label": "Queue" },
    h("div", { class: "section-head" },
      h("h2", null, "Scheduling queue"),
      searchField("Search pods", "search"),
      isSilent(tables, places) && h("p", { class: "quiet" },
        "This scheduler reports nothing of its own work. The page shows what ",
        "the API server has.")),
    h("div", { class: "places" }, [false, true].map((waits) =>
      h("div", { key: waits, class: "places-row" }, shown
        .filter((p) => Boolean(p.waits) === waits)
        .map((p) => placeCard(p, places.get(p.place) ?? [], tables,
          withNamespace))))));
}

// Returns true if the scheduler binds pods but reports no pod. Step 01 does so.
function isSilent(tables, places) {
  return tables.seen.size === 0 && places.has("bound");
}

function isShown({ place, rare }, places, tables) {
  if (isSilent(tables, places)) {
    return place === "unscheduled" || place === "bound";
  }
  if (place === "unscheduled") return isLate(places.get(place) ?? []);
  return !rare || tables.seen.has(place);
}

// Returns true if the scheduler should have had one of the pods by now.
function isLate(entries) {
  const now = shownNow();
  return entries.some(([, pod]) => now - pod.added > kLateMs);
}

// Returns true if the pods are of more than one namespace.
function hasNamespaces(places) {
  let first;
  for (const [place, entries] of places) {
    if (place === "gone" || place === "ended") continue;
    for (const [, pod] of entries) {
      const namespace = pod.row?.namespace ?? pod.record.name.split("/")[0];
      first ??= namespace;
      if (namespace !== first) return true;
    }
  }
  return false;
}

function placeCard({ place, title, hint }, entries, tables, withNamespace) {
  const wanted = ui.search.trim().toLowerCase();
  const found = wanted === ""
    ? entries
    : entries.filter(([, pod]) => fullName(pod).toLowerCase().includes(wanted));
  const limit = rowLimit(place, kFirst);
  const pods = firstOf(found, limit, rankIn(place, tables));
  const id = place.replace(" ", "-");
  return h("section", { key: place, class: `place place-${id}`,
    "aria-labelledby": `place-${id}`, "data-empty": entries.length === 0 },
  h("header", null,
    h("h3", { id: `place-${id}` }, title),
    h("span", { class: "count" }, countText(entries.length),
      h("span", { class: "hidden" }, " pods")),
    h("span", { class: "hint" }, hint)),
  h(place === "active" ? "ol" : "ul", { class: "pods" },
    pods.map(([uid, pod], i) =>
      podItem(place, uid, pod, i, tables, withNamespace))),
  moreLine(place, pods.length, found.length),
  wanted !== "" && found.length === 0 && entries.length > 0 &&
    h("p", { class: "more" }, "no match"));
}

function podItem(place, uid, pod, i, tables, withNamespace) {
  const turn = place === "active" ? i : 0;
  const isCurrent = ui.drawer?.uid === uid;
  if (place === "waiting") {
    return waitingItem(uid, pod, tables, withNamespace);
  }
  return lazy(uid, [pod, turn, isCurrent, withNamespace], () =>
    h("li", null, podButton(uid, pod, fullName(pod),
      { withNamespace, ...kDetails[place](pod, turn) })));
}

// What the button of a pod shows in each place.
const kDetails = {
  unscheduled: (pod) => ({ details: smallPrint(pod) }),
  active: (pod, turn) => ({ aside: `${turn + 1}.`, details: smallPrint(pod) }),
  "in flight": (pod) => ({ aside: timer(pod.since, "up"),
    details: smallPrint(pod) }),
  assumed: (pod) => ({ aside: `→ ${pod.record.node ?? ""}` }),
  bound: (pod) => ({ aside: `→ ${pod.row?.node ?? pod.record?.node ?? ""}` }),
  gated: (pod) => ({
    details: [blockers(pod), line("gates", (pod.row?.gates ?? []).join(", "))],
  }),
  backoff: (pod) => {
    const until = parseTime(pod.record.until ?? "");
    return {
      aside: until ? timer(until, "down") : null,
      details: [until ? timerBar(pod.since, until) : null, smallPrint(pod)],
    };
  },
  unschedulable: (pod) => ({
    aside: attemptText(pod),
    details: [blockers(pod), wakes(pod)],
  }),
};

function attemptText(pod) {
  const n = pod.record?.attempts ?? 0;
  return n > 0 ? `attempt ${n}` : null;
}

// Returns the priority, the attempts and the requests of a pod.
function smallPrint(pod) {
  const priority = pod.row?.priority ?? 0;
  const texts = [
    attemptText(pod),
    requestsText(pod.row?.requests),
  ].filter(Boolean);
  if (texts.length === 0 && priority === 0) return null;
  return h("span", { class: "small" },
    priority !== 0 && badge(`priority ${priority}`), texts.join(" · "));
}

function line(label, text) {
  return text && h("span", { class: "small" },
    h("span", { class: "label" }, `${label} `), text);
}

// Returns the plugins that rejected, gate or hold a pod.
function blockers(pod) {
  const plugins = pod.record?.plugins ?? [];
  return plugins.length > 0 && h("span", { class: "small plugins" },
    h("span", { class: "mark", "aria-hidden": "true" }, "✗"),
    pluginNames(plugins));
}

function wakes(pod) {
  return line("wakes on", (pod.record?.wakes ?? []).join(", "));
}

function waitingItem(uid, pod, tables, withNamespace) {
  const until = parseTime(pod.record.until ?? "");
  const group = groupOf(tables, pod);
  const enabled = canControl() && !ui.rewound;
  const end = (allow) => act(server.source.post("waiting", { uid, allow }));
  return h("li", { key: uid },
    podButton(uid, pod, fullName(pod), {
      withNamespace,
      aside: until ? timer(until, "down") : null,
      details: [
        until ? timerBar(pod.since, until) : null,
        h("span", { class: "small" }, `→ ${pod.record.node ?? "?"} `,
          pluginNames(pod.record.plugins)),
        group && h("span", { class: "small" },
          badge(`${group.ready} of ${group.needed}`), ` of group ${group.group}`),
      ],
    }),
    feed.hello.control && h("span", { class: "actions" },
      h("button", { disabled: !enabled, onclick: () => end(true) }, "Allow",
        h("span", { class: "hidden" }, ` ${fullName(pod)}`)),
      h("button", { disabled: !enabled, onclick: () => end(false) }, "Reject",
        h("span", { class: "hidden" }, ` ${fullName(pod)}`))));
}
