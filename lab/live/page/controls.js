// The head of the page: its source, the scheduler's pace, and the cluster.

import { h } from "./dom.js";
import { durationText, plural } from "./format.js";
import { button, link, select } from "./parts.js";
import { act, canControl, change, feed, past, server, ui } from "./ui.js";

const kPaces = ["100ms", "250ms", "500ms", "1s", "2s", "5s"];
const kTabs = [["queue", "Queue and nodes"], ["attempts", "Attempts"],
  ["tables", "Tables"]];
const kSigns = { live: "●", "catching up": "◐", connecting: "◌", lost: "○" };

// Returns the view of the head.
export function headView() {
  const { control, pace, program, recording, source } = feed.hello;
  const status = recording && feed.status === "live" ? "recording"
    : feed.status;
  return [
    h("div.brand", h("h1", "minisched"), h("p", h("b", program ?? ""),
      source && h("span.quiet", ` on ${source}`))),
    h("nav", { "aria-label": "Views" }, kTabs.map(([view, title]) =>
      h("a", { href: `#${view}`,
        "aria-current": ui.view === view ? "page" : null }, title))),
    control && pace && past.tables.meta.get("reports") && paceView(),
    (control || feed.hello.export) && clusterMenu(),
    h("p.status", { class: `status-${feed.status.replace(" ", "-")}`,
      role: "status" },
    h("span", { "aria-hidden": "true" }, kSigns[status] ?? "▣"), ` ${status}`),
  ];
}

// Returns the lines below the head: what is wrong, and the last result.
export function noticesView() {
  const lost = past.tables.meta.get("server");
  const trace = past.tables.meta.get("trace");
  const dropped = past.tables.meta.get("dropped");
  const error = ui.notice?.isError ? "error" : "";
  return [
    feed.status === "lost" && h("p.notice.error", { role: "alert" },
      "Connection lost: the page shows what it had ",
      `${durationText(Date.now() - feed.since)} ago, and tries again.`),
    lost?.startsWith("lost") &&
      h("p.notice.error", `The API server: ${lost}`),
    trace?.startsWith("lost") &&
      h("p.notice.error", `The scheduler's trace: ${trace}`),
    dropped > 0 && h("p.notice",
      `${plural(dropped, "change")} came too fast and are left out.`),
    ui.notice && h("p.notice", { class: error, role: "status" },
      ui.notice.text, " ", link("Close", () => change({ notice: null }))),
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
  const pressed = (is) => ({ disabled, "aria-pressed": String(Boolean(is)) });
  const paces = [["run", "every …"], ...new Set([...kPaces, every || "1s"])];
  return h("div.pace", { role: "group", "aria-label": "Pace" },
    button("Run", () => setPace("run"), pressed(paused === false && !every)),
    button("Pause", () => setPace("pause"), pressed(paused && !every)),
    button("Step", () => setPace("step"),
      { disabled, title: "Take one pod from activeQ" }),
    select("One pod every", every || "run", paces, setPace, { disabled }),
    feed.hello.allRejections && h("label.check",
      h("input", { type: "checkbox", disabled,
        checked: past.tables.meta.get("allRejections") === "on",
        onchange: setAllRejections }), " all rejections"));
}

async function setAllRejections({ target }) {
  const on = target.checked;
  const result = await act(server.source.post("all-rejections", { on }));
  if (!result.ok) target.checked = !on;
}

function clusterMenu() {
  const disabled = !canControl();
  const { api, config, control, reset } = feed.hello;
  return h("div.cluster", { role: "group", "aria-label": "Cluster" },
    api && control && button("Create …",
      () => change({ drawer: { create: "Pod" } }), { id: "create", disabled }),
    h("details.menu", { onkeydown: ({ key, currentTarget }) => {
      if (key === "Escape") currentTarget.open = false;
    } },
      h("summary", "Cluster"),
      h("div",
        feed.hello.export && h("a", { href: "live/export",
          download: "cluster.yaml" }, "Export the objects"),
        reset && control && h("label.file", "Import objects … ",
          h("input", { type: "file", accept: ".yaml,.yml,.json", disabled,
            onchange: (event) => importFile(event.target) })),
        config && button("Configuration …", () => change({ drawer:
          { kind: "Configuration", name: "of the scheduler" } })),
        reset && control && resetPart(disabled))));
}

function resetPart(disabled) {
  const ask = (asksReset) => change({ asksReset });
  if (!ui.asksReset) {
    return button("Reset …", () => ask(true), { key: "ask", disabled });
  }
  return h("div.sure", { key: "sure" },
    "All objects return to those of the start. ",
    button("Reset the cluster", () => {
      ask(false);
      showSummary(server.source.post("reset"), ({ errors }) =>
        `The cluster is ${errors.length > 0 ? "not " : ""}as at the start.`);
    }, { class: "danger" }),
    button("Keep", () => ask(false)));
}

async function importFile(input) {
  const [file] = input.files;
  if (!file) return;
  const text = await file.text();
  input.value = "";
  const isJson = file.name.endsWith(".json");
  const list = (counts) => Object.entries(counts)
    .map(([what, n]) => `${n} ${what}`).join(", ") || "nothing";
  showSummary(server.source.load(text, isJson), ({ created, skipped }) =>
    `${file.name}: created ${list(created)}, skipped ${list(skipped)}.`);
}

// Waits for an import or a reset, and shows the summary in the response.
async function showSummary(request, describeSummary) {
  const result = await act(request);
  if (!result.ok) return;
  const summary = JSON.parse(result.text);
  const { errors } = summary;
  change({ notice: { isError: errors.length > 0,
    text: [describeSummary(summary), ...errors].join(" ") } });
}
