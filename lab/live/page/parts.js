// Parts that several views have.

import { h } from "./dom.js";
import { countText, durationText, leftText } from "./format.js";
import { namespacesOf } from "./places.js";
import { change, currentIf, openPod, shownNow, shownTables, ui } from "./ui.js";

// Names up to this length are not cut; of others, this much of the end stays.
export const kWhole = 24;
const kTail = 9;

// Returns text that only screen readers read.
export const hidden = (text) => h("span.hidden", text);
export const badge = (text, kind) => h("span.badge", { class: kind }, text);
export const button = (text, onclick, props) =>
  h("button", { ...props, onclick }, text);
// Returns a button that looks like a link.
export const link = (text, onclick) => h("button.link", { onclick }, text);

// Returns a name that is cut in its middle if there is no room for it: names of
// one kind differ at their ends.
export function cut(name) {
  return name.length <= kWhole ? name : h("span.cut", { title: name },
    h("span.cut-head", name.slice(0, -kTail)), h("span", name.slice(-kTail)));
}

// Returns a name that may be broken before its words.
export const breakable = (name) => name.split(/(?=[A-Z][a-z]|(?<=\/))/)
  .map((word) => [h("wbr"), word]);

// Returns a list of options of which one is chosen. An option is its text, or a
// pair of its value and its text.
export function select(label, chosen, options, onchange, props) {
  return h("label", hidden(label),
    h("select", { ...props, onchange: (event) => onchange(event.target.value) },
      options.map((option) => {
        const [value, text = value] = [option].flat();
        return h("option", { key: value, value, selected: value === chosen },
          text);
      })));
}

// Returns a field whose text is this choice of the reader.
export function searchField(label, choice) {
  return h("label.search", hidden(label),
    h("input", { type: "search", placeholder: label, value: ui[choice],
      spellcheck: "false",
      oninput: (event) => change({ [choice]: event.target.value }) }));
}

// Returns the choice of a namespace for all views, if there are several.
export function namespaceSelect() {
  const all = namespacesOf(shownTables());
  return (all.length > 1 || ui.namespace) && select("Namespace", ui.namespace,
    [["", "all namespaces"],
      ...new Set([...all, ui.namespace].filter(Boolean))],
    (namespace) => change({ namespace }));
}

// Returns true if the page shows objects of this namespace.
export const inNamespace = (namespace) =>
  !ui.namespace || !namespace || namespace === ui.namespace;

// Returns a table with a head, in a box that can be scrolled by keyboard too.
export function scrollTable(label, kind, head, rows) {
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": label },
    h("table", { class: kind }, h("thead", h("tr", head)), h("tbody", rows)));
}

// Returns a text that counts down to a time, or up from one. updateTimers()
// fills it, so that it changes without its view.
export const timer = (ms, direction) =>
  h("span.timer", { "data-time": ms, "data-direction": direction });

// Sets all timers of the page to the shown moment.
export function updateTimers() {
  const now = shownNow();
  for (const node of document.querySelectorAll(".timer")) {
    const { time, direction } = node.dataset;
    const text = direction === "down" ? leftText(time - now)
      : durationText(now - time);
    if (node.textContent !== text) node.textContent = text;
  }
  for (const node of document.querySelectorAll(".timer-bar")) {
    const { from, until } = node.dataset;
    const left = (until - now) / Math.max(until - from, 1);
    node.style.setProperty("--part", Math.min(Math.max(left, 0), 1).toFixed(3));
  }
}

// Returns a button that opens a pod. `details` stand below its name. The
// namespace is before the name, smaller, if it says something. A wait has its
// two times, for a countdown and a bar that empties.
export function podButton(uid, fullName, parts) {
  const { aside, details, wait, withNamespace } = parts;
  const [namespace, name] = fullName.split("/");
  const isPlain = !withNamespace || namespace === "default";
  return h("button.pod", { "data-uid": uid, title: fullName,
    "aria-current": currentIf(ui.drawer?.uid === uid),
    onclick: () => openPod(uid, fullName) },
  h("span.pod-line",
    h("span.pod-name", !isPlain && h("span.namespace", `${namespace}/`),
      h("span.name", cut(name))),
    h("span.aside", wait?.until ? timer(wait.until, "down") : aside)),
  wait?.until && h("span.timer-bar", { "aria-hidden": "true",
    "data-from": wait.from, "data-until": wait.until }),
  details);
}

// Returns plugin names in a row.
export const pluginNames = (plugins) =>
  (plugins ?? []).map((name) => h("code", { key: name }, breakable(name)));

// Returns the first items of a list, each as its view, and a line that says how
// many are left out, with a button for more.
export function firstItems(list, first, items, view) {
  const limit = ui.more[list] ?? first;
  const left = items.length - limit;
  return [items.slice(0, limit).map(view), moreLine(list, limit, left)];
}

// Returns the line below a list that lacks some items.
export function moreLine(list, limit, left) {
  return left > 0 && h("p.more", { key: `more ${list}` },
    `… and ${countText(left)} more `, link("Show 100 more",
      () => change({ more: { ...ui.more, [list]: limit + 100 } })));
}
