// The scheduling queue: the places of the pods, in the order in which a pod
// goes through them.

import { h, lazy } from "./dom.js";
import { countText, requestsText } from "./format.js";
import { badge, breakable, button, cut, firstItems, hidden } from "./parts.js";
import { inNamespace, link, moreLine, namespaceSelect } from "./parts.js";
import { pluginNames, podButton, searchField, timer } from "./parts.js";
import { arrangePods, firstOf, fullName, groupByReason } from "./places.js";
import { groupOf, namespacesOf, nodeOf, rankIn, reasonOf } from "./places.js";
import { untilOf } from "./places.js";
import { act, canControl, change, feed, isFound, openAttempt } from "./ui.js";
import { server, shownNow, shownTables, ui } from "./ui.js";

const kFirst = 60;
const kLateMs = 1500;
// The places where many pods may wait for the same reason.
const kGrouped = new Set(["gated", "unschedulable"]);
// The places whose pods have failed, and lead to their last attempts.
const kWhy = new Set(["backoff", "unschedulable"]);

// The places: how they are called, and how pods come and go there. `rare` ones
// are shown from the first pod on. In those of the second row, pods wait for
// something.
const kPlaces = [
  { place: "unscheduled", rare: true, hint: "only the API server has it" },
  { place: "active", title: "activeQ", hint: "the first is the next →" },
  { place: "in flight", hint: "is being scheduled →" },
  { place: "waiting", rare: true, hint: "on Permit, with a node held" },
  { place: "assumed", rare: true, hint: "the Binding is under way →" },
  { place: "bound", hint: "newest first" },
  { place: "gated", rare: true, waits: true, hint: "↑ when ungated" },
  { place: "backoff", title: "backoffQ", rare: true, waits: true,
    hint: "↑ when the time is over" },
  { place: "unschedulable", waits: true, hint: "← when an event may help" },
];

// Returns the view of the queue.
export function queueView() {
  const tables = shownTables();
  const places = arrangePods(tables, feed.hello.scheduler);
  const isSilent = tables.seen.size === 0 && places.has("bound") &&
    !tables.meta.get("reports");
  const withNamespace = namespacesOf(tables).length > 1 && !ui.namespace;
  const shown = kPlaces.filter(({ place, rare }) => {
    if (isSilent) return place === "unscheduled" || place === "bound";
    if (place === "unscheduled") return isLate(places.get(place) ?? []);
    return !rare || tables.seen.has(place);
  });
  const rowOf = (waits) => h("div.places-row", { key: waits },
    shown.filter((card) => Boolean(card.waits) === waits).map((card) =>
      placeCard(card, places.get(card.place) ?? [], tables, withNamespace)));
  return h("section.queue", { key: "queue", "aria-label": "Queue" },
    h("div.section-head",
      h("h2", "Scheduling queue"),
      searchField("Search pods", "search"),
      namespaceSelect(),
      isSilent && h("p.quiet", "This scheduler reports nothing of its own ",
        "work. The page shows what the API server has.")),
    h("div.places", rowOf(false), !isSilent && rowOf(true)));
}

// Returns true if the scheduler should have had one of the pods by now.
function isLate(entries) {
  const now = shownNow();
  return entries.some(([, pod]) => now - pod.added > kLateMs);
}

function placeCard({ place, title, hint }, all, tables, withNamespace) {
  const entries = !ui.namespace ? all : all.filter(([, pod]) =>
    inNamespace(fullName(pod).split("/")[0]));
  const found = ui.search.trim() === "" ? entries
    : entries.filter(([, pod]) => isFound(fullName(pod), "search"));
  const limit = ui.more[place] ?? kFirst;
  const rank = rankIn(place, tables);
  const isGrouped = kGrouped.has(place);
  const items = isGrouped ? groupByReason(found) : found;
  const shown = firstOf(items, limit, (item) =>
    rank(isGrouped ? item.pods[0] : item));
  const id = place.replace(" ", "-");
  return h("section.place", { key: place, class: `place-${id}`,
    "aria-labelledby": `place-${id}`, "data-empty": entries.length === 0 },
  h("header",
    h("h3", { id: `place-${id}` }, title ?? place),
    h("span.count", countText(entries.length), hidden(" pods")),
    h("span.hint", hint)),
  h(place === "active" ? "ol.pods" : "ul.pods", shown.map((item, i) =>
    (item.pods?.length > 1 ? podGroup(place, item, tables, withNamespace)
      : podItem(place, item.pods?.[0] ?? item, i, tables, withNamespace)))),
  moreLine(place, limit, items.length - shown.length),
  found.length === 0 && entries.length > 0 && h("p.more", "no match"));
}

// Returns the view of a pod, which is the i-th one of its place.
function podItem(place, [uid, pod], i, tables, withNamespace) {
  const turn = place === "active" ? i : 0;
  const group = place === "waiting" ? groupOf(tables, pod) : null;
  const canEnd = feed.hello.control && feed.hello.waiting;
  const number = pod.record?.attempts;
  const isWhy = kWhy.has(place) && tables.attempts.has(`${uid}/${number}`);
  const deps = [pod, turn, withNamespace, ui.drawer?.uid === uid,
    group?.ready, canControl() && !ui.rewound, isWhy];
  return lazy(uid, deps, () => h("li",
    podButton(uid, fullName(pod),
      { withNamespace, ...kDetails[place](pod, turn, group),
        ...(isWhy && { aside: null }) }),
    isWhy && link([`Attempt ${number}`,
      hidden(` of ${fullName(pod)}`)], () => openAttempt(uid, number)),
    place === "waiting" && canEnd && waitButtons(uid, pod)));
}

// Returns pods that wait for the same reason as one line, which opens.
function podGroup(place, { key, pods }, tables, withNamespace) {
  const [, first] = pods[0];
  const isOpen = Boolean(ui.open[key]);
  return h("li.group", { key }, h("details", { open: isOpen,
    ontoggle: ({ target }) => {
      if (target.open !== Boolean(ui.open[key])) {
        change({ open: { ...ui.open, [key]: target.open } });
      }
    } },
  h("summary", h("b", `${countText(pods.length)} pods`), " like ",
    cut(fullName(first).split("/").at(-1)),
    kDetails[place](first).details,
    h("span.small", reasonOf(first))),
  isOpen && h("ul", firstItems(key, kFirst, pods, (entry) =>
    podItem(place, entry, 0, tables, withNamespace)))));
}

// What the button of a pod shows in each place.
const kDetails = {
  unscheduled: (pod) => ({ details: smallPrint(pod) }),
  active: (pod, turn) => ({ aside: `${turn + 1}.`, details: smallPrint(pod) }),
  "in flight": (pod) => ({ aside: timer(pod.since, "up"),
    details: smallPrint(pod) }),
  waiting: (pod, _, group) => ({ wait: waitOf(pod), details: [
    h("span.small", "→ ", cut(nodeOf(pod) ?? "?"), " ",
      pluginNames(pod.record.plugins)),
    group && h("span.small", badge(`${group.ready} of ${group.needed}`),
      ` of group ${group.group}`)] }),
  assumed: (pod) => ({ aside: ["→ ", cut(nodeOf(pod) ?? "")] }),
  bound: (pod) => ({ aside: ["→ ", cut(nodeOf(pod) ?? "")] }),
  gated: (pod) => ({ details: [blockers(pod),
    labelled("gates", pod.row?.gates)] }),
  backoff: (pod) => ({ wait: waitOf(pod), details: smallPrint(pod) }),
  unschedulable: (pod) => ({ aside: attemptText(pod),
    details: [blockers(pod), labelled("wakes on", pod.record.wakes)] }),
};

const waitOf = (pod) => ({ from: pod.since, until: untilOf(pod) });

const attemptText = ({ record }) =>
  record?.attempts > 0 ? `attempt ${record.attempts}` : null;

// Returns the priority, the attempts and the requests of a pod.
function smallPrint(pod) {
  const { priority, requests } = pod.row ?? {};
  const texts = [attemptText(pod), requestsText(requests)].filter(Boolean);
  if (texts.length === 0 && !priority) return null;
  return h("span.small", priority ? badge(`priority ${priority}`) : null,
    texts.join(" · "));
}

function labelled(label, texts) {
  return texts && h("span.small", h("span.label", `${label} `),
    breakable(texts.join(", ")));
}

// Returns the plugins that rejected or gate a pod.
function blockers({ record }) {
  return record.plugins && h("span.small.plugins",
    h("span.mark", { "aria-hidden": "true" }, "✗"),
    pluginNames(record.plugins));
}

function waitButtons(uid, pod) {
  const endButton = (text, allow) => button([text, hidden(fullName(pod))],
    () => act(server.source.post("waiting", { uid, allow })),
    { disabled: !canControl() || Boolean(ui.rewound) });
  return h("span.actions", endButton("Allow ", true),
    endButton("Reject ", false));
}
