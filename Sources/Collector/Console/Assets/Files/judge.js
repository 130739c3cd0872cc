// SPDX-License-Identifier: Apache-2.0

// Judges a log that is dropped, chosen or pasted: the same judgement as `dnp-telemetry validate`, with its downloads.

import {ApiError, get, post, query} from "./api.js";
import {button, card, facts, h, put, short, table, value} from "./dom.js";
import {menu} from "./filters.js";
import {bytes, count, counted, time} from "./format.js";
import {mark, marks, noteRow, outcomePill, STAGES, violationNote} from "./parts.js";

const LISTED = 100;
const LONGEST_SHOWN_LOG_BYTES = 8 * 1024 * 1024;
const DOWNLOADS = [
  ["json", "JSON", "judgement.json"],
  ["junit", "JUnit", "judgement.xml"],
  ["markdown", "Markdown", "test-run.md"],
  ["artifact", "Export Test Results", "DNP_TestRunArtifact.json"]
];

export function open(app) {
  let input = null;
  let lines = [];
  const options = {};
  const result = h("div.contents");
  const told = h("p.small.soft", {role: "status"});
  const choose = name => chosen => {
    options[name] = chosen;
    judge();
  };
  const box = (name, words) =>
    h(
      "label.check",
      h("input", {type: "checkbox", on: {change: event => choose(name)(event.target.checked && "true")}}),
      words
    );

  const ask = format => {
    const headers = {"Content-Type": "text/plain", ...(input.isGzip && {"Content-Encoding": "gzip"})};
    return post(`/api/v1/validate${query({format, ...options})}`, input.body, headers);
  };
  const take = async (name, body) => {
    const head = new Uint8Array(await body.slice(0, 2).arrayBuffer());
    input = {name, body, isGzip: head[0] === 0x1f && head[1] === 0x8b};
    // The line that a violation names can be shown, since the log is here. In a JSON document it is the number of an event.
    const text = input.isGzip || body.size > LONGEST_SHOWN_LOG_BYTES ? "" : await body.text();
    lines = text.startsWith("[") || /^\{\s*\n/.test(text) ? [] : text.split("\n");
    await judge();
  };
  const judge = async () => {
    if (!input) return;
    const mine = input;
    put(told, "Judging ", short(mine.name, 80), ".");
    try {
      const judgement = await (await ask("json")).json();
      if (mine !== input) return;
      put(told, "Judged ", short(mine.name, 80), `, ${bytes(mine.body.size)}. Nothing of it was stored.`);
      put(result, ...cards(judgement, options.strict, lines, save));
    } catch (error) {
      put(told);
      put(result, refusal(error, mine, judge));
    }
  };
  const save = async (format, file, note) => {
    put(note);
    try {
      const address = URL.createObjectURL(await (await ask(format)).blob());
      const link = h("a", {download: file});
      link.href = address;
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    } catch (error) {
      put(
        note,
        refusal(error, input, () => save(format, file, note))
      );
    }
  };

  const file = h("input.unseen", {type: "file", id: "file"});
  file.addEventListener("change", () => {
    if (file.files[0]) take(file.files[0].name, file.files[0]);
    file.value = "";
  });
  const drop = h(
    "div.drop",
    h("p", h("b", "Drop a log here"), " or ", file, h("label.button", {for: "file"}, "choose a file")),
    h("p.soft.small", "A device log in any of its wrappers, or events as JSON; plain or gzip.")
  );
  for (const kind of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, event => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      const dropped = kind === "drop" && event.dataTransfer.files[0];
      if (dropped) take(dropped.name, dropped);
    });
  }
  const example = "2026-11-24T05:48:00Z [DNP-FETCH] BGTask handler invoked";
  const pasted = h("textarea", {rows: 5, spellcheck: "false", "data-filter": true, placeholder: example});
  const paste = h("label.field", h("span", "or paste lines"), pasted);
  const submit = button("Judge", () => {
    if (pasted.value.trim()) take("the pasted lines", new Blob([pasted.value]));
    else put(told, "Paste some lines, or drop or choose a file.");
  });
  const about = ["The same judgement as ", h("code", "dnp-telemetry validate"), ". Nothing of it enters the ledger."];
  const menus = {
    requirements: menu("Require", [], choose("require")),
    scenarios: menu("Scenario", [], choose("scenario"))
  };
  app.attempt(async signal => {
    const lists = await get("/api/v1/filters", signal);
    for (const [name, each] of Object.entries(menus)) each.fill((lists[name] ?? []).map(option => [option, option]));
  });
  const boxes = [
    box("strict", "strict: bucket B counts like A"),
    box("sequence", "the seven markers in order"),
    box("excerpt", "an excerpt: nothing before its beginning")
  ];
  const controls = [boxes, menus.requirements.element, menus.scenarios.element];
  const form = [drop, h("div.row.paste", paste, submit), h("div.row", controls), told];
  app.main.append(h("section.w12", h("h1", "Judge a log"), h("p.about", about), form), result);
}

function refusal(error, input, again) {
  if (!(error instanceof ApiError)) throw error;
  const size = bytes(input.body.size);
  const texts = {
    0: `The service does not answer. It may be away, or ${size} are more than it takes.`,
    413: `${size} are more than the service takes. Use dnp-telemetry validate FILE.`,
    415: "The service takes text and JSON, plain or gzip."
  };
  const wait = error.retryAfter > 0 ? ` Try again in ${error.retryAfter} s.` : "";
  const title = h("b", `${texts[error.status] ?? error.message}${wait}`);
  return h("div.note.w12", {role: "alert"}, h("p", title), h("p", error.detail), button("Try again", again));
}

function cards(judgement, strict, lines, save) {
  const {verdict, cycles = [], runs = [], rejected = [], notes = [], hints = [], counters = {}} = judgement;
  const broken = [...cycles, ...runs].flatMap(each => each.violations ?? []);
  const faults = broken.filter(each => each.bucket === "A" || (strict && each.bucket === "B")).length;
  const suites = ["scenarios", "sequence", "schedule"];
  const checks = [
    ...(judgement.requirements ?? []).map(each => ({name: `require ${each.require}`, passed: each.met})),
    ...suites.flatMap(suite => judgement[suite] ?? [])
  ];
  const unmet = checks.filter(check => !check.passed).length;
  const tone = verdict === "incoherent" || unmet > 0 ? "bad" : verdict === "coherent" ? "good" : "warn";
  const about = [
    counted(cycles.length + (judgement.cyclesOmitted ?? 0), "cycle"),
    runs.length > 0 && counted(runs.length + (judgement.runsOmitted ?? 0), "run"),
    counted(faults, "violation"),
    broken.length > faults && counted(broken.length - faults, "note"),
    rejected.length > 0 && `${counted(rejected.length + (judgement.rejectedOmitted ?? 0), "event")} rejected`,
    unmet > 0 && `${counted(unmet, "check")} not met`
  ].filter(Boolean);
  const note = h("div");
  const downloads = DOWNLOADS.map(([format, name, file]) => button(name, () => save(format, file, note)));
  const empty = verdict === "empty" && h("p", "The log holds no cycle and no run.");
  const remarks = [...notes, ...hints].map(text => h("p.hint.warn", value(text)));
  const heading = [h(`p.big.${tone}`, short(verdict, 20)), h("p", about.join(" · ")), empty, remarks];
  const numbers = Object.entries(counters).flatMap(([name, number]) =>
    typeof number === "object"
      ? Object.entries(number ?? {}).map(([reason, each]) => [`${name}{reason="${reason}"}`, each])
      : [[name, number]]
  );
  const rows = entries => entries.map(([name, number]) => [h("code", short(name, 100)), count(number)]);
  const reasons = shown =>
    table(
      "Rejected events",
      ["index.num", "reason"],
      shown.map(each => [count(each.index), value(each.reason)])
    );
  return [
    h(
      `section.w12.judged.${tone}`,
      h("h2", "Verdict"),
      heading,
      h("div.row", h("span.soft", "Download"), downloads),
      note
    ),
    checks.length > 0 && card("w12", "Checks", "", h("ul.list", checks.map(checkItem))),
    cycles.length > 0 &&
      card(
        "w12",
        "Cycles",
        "",
        listed(cycles, shown => judgedTable(shown, lines))
      ),
    runs.length > 0 &&
      card(
        "w12",
        "Runs of the background refresh",
        "",
        listed(runs, shown => runTable(shown, lines))
      ),
    rejected.length > 0 && card("w12", "Rejected events", "", listed(rejected, reasons)),
    card("w6", "Counters", "", facts("Counters of the log", rows(numbers))),
    card("w6", "Lines", "", facts("Lines of the log", rows(Object.entries(judgement.lines ?? {}))))
  ].filter(Boolean);
}

function checkItem({name, passed, unmet = [], untested = []}) {
  const why = [...unmet, ...untested.map(each => `not tested: ${each}`)].map(text => h("p.soft.small", value(text)));
  return h(
    "li.account",
    mark(passed ? "reached" : "failed", passed ? "met" : "not met"),
    h("div", short(name, 80), why)
  );
}

/** The first rows. The rest is in the downloads. */
function listed(all, build) {
  const rest = all.length - LISTED;
  return [build(all.slice(0, LISTED)), rest > 0 && h("p.none", `${count(rest)} more are in the download as JSON.`)];
}

/** A row; below it violations with the lines that show them, and what to look at next. */
function judgedRow(cells, judged, lines) {
  const violations = (judged.violations ?? []).map(violation => {
    const place =
      violation.line > 0 && h("span.mono.soft", violation.at ? short(violation.at) : `line ${violation.line}`);
    const text = lines[violation.line - 1]?.trimEnd().slice(0, 2000);
    return [
      violationNote(violation, place),
      text && h("pre", {tabindex: "0"}, h("span.soft", `${violation.line}  `), text)
    ];
  });
  const warped =
    judged.timeWarped && h("p.small.soft", "A test moved the clock; planned times follow the moved clock.");
  const cut =
    judged.cut && h("p.small.soft", `The log does not have the ${judged.cut.join(" and the ")} of this cycle.`);
  const hints =
    judged.hints?.length > 0 &&
    h(
      "details.small",
      h("summary", `What to look at, ${counted(judged.hints.length, "hint")}`),
      h(
        "ul",
        judged.hints.map(hint => h("li", value(hint)))
      )
    );
  const notes = [...violations, warped, cut, hints].filter(Boolean);
  return notes.length > 0 ? [cells, noteRow(cells.length, notes)] : [cells];
}

function judgedTable(cycles, lines) {
  const rows = cycles.flatMap(cycle => {
    const judged = {...cycle, reason: cycle.failureReason};
    const from = [cycle.file, cycle.installation].filter(Boolean).map(name => h("div.soft.small", short(name, 48)));
    const schedule = [h("span.mono", short(cycle.scheduleId ?? "no id", 48)), from];
    return judgedRow(
      [time(cycle.notificationTime, "full"), schedule, marks(judged), outcomePill(judged)],
      cycle,
      lines
    );
  });
  const columns = ["notification.when", "schedule.schedule", `${STAGES.join(" · ")}.stages`, "outcome.end"];
  return table("Judged cycles", columns, rows, ".cycles");
}

function runTable(runs, lines) {
  const rows = runs.flatMap(run => {
    const told = ["daysSinceTest", "notification", "durationMs"].filter(name => run[name] !== null);
    const words = told.map(name => h("span.fact", h("span.soft", name, " "), short(run[name])));
    const pill = outcomePill({...run, reason: run.skipReason});
    return judgedRow([time(run.begin, "full"), words, pill], run, lines);
  });
  return table("Judged runs", ["begin.when", "what it told", "outcome.end"], rows, ".cycles");
}
