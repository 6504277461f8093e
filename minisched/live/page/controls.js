// The head of the page: where it comes from, the pace of the scheduler, and
// what can be done with the cluster.

import { h } from "./dom.js";
import { durationText, plural } from "./format.js";
import { act, canControl, change, feed, past, server, ui } from "./ui.js";

const kPaces = ["100ms", "250ms", "500ms", "1s", "2s", "5s"];
const kTabs = { queue: "Queue and nodes", attempts: "Attempts",
  tables: "Tables" };
const kSigns = { live: "●", "catching up": "◐", connecting: "◌", lost: "○" };

// Returns the view of the head.
export function headView() {
  const { hello, status } = feed;
  return [
    h("div", { class: "brand" },
      h("h1", null, "minisched"),
      h("p", null, h("b", null, hello.program ?? ""),
        hello.source && h("span", { class: "quiet" }, ` on ${hello.source}`))),
    h("nav", { "aria-label": "Views" }, Object.entries(kTabs).map(
      ([view, title]) => h("a", { key: view, href: `#${view}`,
        "aria-current": ui.view === view ? "page" : null }, title))),
    hello.control && paceView(),
    hello.control && clusterMenu(),
    h("p", { class: `status status-${status.replace(" ", "-")}`,
      role: "status" },
    h("span", { "aria-hidden": "true" },
      hello.recording ? "▣ " : `${kSigns[status]} `),
    hello.recording ? "recording" : status),
  ];
}

// Returns the lines below the head: what is wrong, and the last result.
export function noticesView() {
  const { tables } = past;
  const lost = tables.meta.get("server");
  const dropped = tables.meta.get("dropped");
  return [
    feed.status === "lost" && h("p", { class: "notice error", role: "alert" },
      "Connection lost: the page shows what it had ",
      `${durationText(Date.now() - feed.since)} ago, and tries again.`),
    lost?.startsWith("lost") && h("p", { class: "notice error" },
      `The scheduler's API server: ${lost}`),
    dropped > 0 && h("p", { class: "notice" },
      `${plural(dropped, "change")} came too fast and are left out of the past.`),
    ui.notice && h("p", { class: `notice ${ui.notice.isError ? "error" : ""}`,
      role: "status" }, ui.notice.text, " ",
    h("button", { class: "link", onclick: () => change({ notice: null }) },
      "Close")),
  ];
}

function setPace(pace) {
  if (pace === "step") change({ rewound: null, playing: false });
  act(server.source.post("pace", { pace }));
}

function paceView() {
  const { paused } = past.tables.meta.get("scheduler") ?? {};
  const every = past.tables.meta.get("every");
  const disabled = !canControl();
  const isRunning = paused === false && !every;
  return h("div", { class: "pace", role: "group", "aria-label": "Pace" },
    h("button", { disabled, "aria-pressed": String(isRunning),
      onclick: () => setPace("run") }, "Run"),
    h("button", { disabled, "aria-pressed": String(Boolean(paused)),
      onclick: () => setPace("pause") }, "Pause"),
    h("button", { disabled, title: "Take one pod from activeQ",
      onclick: () => setPace("step") }, "Step"),
    h("label", null, h("span", { class: "hidden" }, "One pod every"),
      h("select", { disabled, onchange: (event) =>
        setPace(event.target.value) },
      h("option", { value: "run", selected: !every }, "every …"),
      kPaces.map((pace) => h("option",
        { key: pace, value: pace, selected: pace === every }, pace)),
      every && !kPaces.includes(every) &&
        h("option", { value: every, selected: true }, every))),
    h("label", { class: "check" },
      h("input", { type: "checkbox", disabled, checked: ui.allRejections,
        onchange: (event) => setAllRejections(event.target.checked) }),
      " all rejections"));
}

async function setAllRejections(on) {
  const result = await act(server.source.post("all-rejections", { on }));
  change({ allRejections: result.ok ? on : !on });
}

function clusterMenu() {
  const disabled = !canControl();
  return h("div", { class: "cluster", role: "group", "aria-label": "Cluster" },
    h("button", { id: "create", disabled,
      onclick: () => change({ drawer: { create: "Pod" } }) }, "Create …"),
    h("details", { class: "menu", onkeydown: (event) => {
      if (event.key !== "Escape") return;
      event.currentTarget.open = false;
      event.currentTarget.firstChild.focus();
    } },
    h("summary", null, "Cluster"),
    h("div", null,
      h("a", { href: "live/export", download: "cluster.yaml" },
        "Export the objects"),
      feed.hello.reset && h("label", { class: "file" }, "Import objects … ",
        h("input", { type: "file", accept: ".yaml,.yml,.json", disabled,
          onchange: (event) => importFile(event.target) })),
      feed.hello.reset && resetPart(disabled))));
}

function resetPart(disabled) {
  if (!ui.asksReset) {
    return h("button", { key: "ask", disabled,
      onclick: () => change({ asksReset: true }) }, "Reset …");
  }
  return h("div", { key: "sure", class: "sure" },
    "All objects return to those of the start. ",
    h("button", { class: "danger", onclick: () => {
      change({ asksReset: false });
      act(server.source.post("reset"), "The cluster is as at the start.");
    } }, "Reset the cluster"),
    h("button", { onclick: () => change({ asksReset: false }) }, "Keep"));
}

async function importFile(input) {
  const [file] = input.files;
  if (!file) return;
  const text = await file.text();
  input.value = "";
  const result = await act(
    server.source.load(text, file.name.endsWith(".json")));
  if (result.ok) {
    change({ notice: importNotice(file.name, JSON.parse(result.text)) });
  }
}

function importNotice(name, { created, skipped, errors }) {
  const list = (counts) => Object.entries(counts ?? {})
    .map(([what, n]) => `${n} ${what}`).join(", ");
  const parts = [`${name}: created ${list(created) || "nothing"}.`];
  if (list(skipped)) parts.push(`Skipped ${list(skipped)}.`);
  return { text: [...parts, ...(errors ?? [])].join(" "),
    isError: (errors ?? []).length > 0 };
}
