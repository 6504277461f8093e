// Parts that several views have.

import { h } from "./dom.js";
import { countText, durationText, leftText, splitName } from "./format.js";
import { change, openPod, shownNow, ui } from "./ui.js";

const kPlain = new Set(["default", ""]);

// Returns a text that counts down to a time, or up from one. updateTimers()
// fills it, so that it changes without its view.
export function timer(ms, direction) {
  return h("span", { class: "timer", "data-time": ms,
    "data-direction": direction });
}

// Returns a bar that empties from one time to another.
export function timerBar(from, until) {
  return h("span", { class: "timer-bar", "aria-hidden": "true",
    "data-from": from, "data-until": until });
}

// Sets all timers of the page to the shown moment.
export function updateTimers(root) {
  const now = shownNow();
  for (const node of root.querySelectorAll(".timer")) {
    const ms = Number(node.dataset.time);
    const text = node.dataset.direction === "down"
      ? leftText(ms - now)
      : durationText(Math.max(0, now - ms));
    if (node.textContent !== text) node.textContent = text;
  }
  for (const node of root.querySelectorAll(".timer-bar")) {
    const { from, until } = node.dataset;
    const left = (until - now) / Math.max(until - from, 1);
    node.style.setProperty("--part", Math.min(Math.max(left, 0), 1).toFixed(3));
  }
}

// Returns the name of a pod or a node; the namespace is before it, smaller, if
// it says something.
export function nameParts(text, showNamespace) {
  const { namespace, name } = splitName(text);
  return [
    showNamespace && !kPlain.has(namespace) &&
      h("span", { class: "namespace" }, `${namespace}/`),
    h("span", { class: "name" }, name),
  ];
}

// Returns a button that opens a pod. `details` stand below its name.
export function podButton(uid, pod, text, { aside, details, withNamespace }) {
  return h("button", {
    class: "pod", "data-uid": uid, title: text,
    "aria-current": ui.drawer?.uid === uid ? "true" : null,
    onclick: () => openPod(uid, pod),
  },
  h("span", { class: "pod-line" },
    h("span", { class: "pod-name" }, nameParts(text, withNamespace)),
    aside && h("span", { class: "aside" }, aside)),
  details);
}

export function badge(text, kind) {
  return h("span", { class: `badge ${kind ?? ""}` }, text);
}

// Returns plugin names in a row.
export function pluginNames(plugins) {
  return (plugins ?? []).map((name) => h("code", { key: name }, name));
}

export function searchField(label, choice) {
  return h("label", { class: "search" },
    h("span", { class: "hidden" }, label),
    h("input", { type: "search", placeholder: label, value: ui[choice],
      spellcheck: "false",
      oninput: (event) => change({ [choice]: event.target.value }) }));
}

// Returns how many rows of a list are shown.
export function rowLimit(list, first) {
  return ui.more[list] ?? first;
}

// Returns the line below a list that was cut off, with a button for more.
export function moreLine(list, shown, total) {
  if (shown >= total) return null;
  return h("p", { key: `more ${list}`, class: "more" },
    `… and ${countText(total - shown)} more `,
    h("button", {
      class: "link",
      onclick: () => change({ more: { ...ui.more, [list]: shown + 100 } }),
    }, "Show 100 more"));
}
