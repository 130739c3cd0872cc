// SPDX-License-Identifier: Apache-2.0

// What several views show: a cycle's stages as marks, its outcome, its violations in words, and events.

import {query} from "./api.js";
import {clean, h, short, table, value} from "./dom.js";
import {instant, time, timeText} from "./format.js";

export const STAGES = ["scheduled", "executed", "success", "used", "delivered"];
export const OUTCOMES = ["used", "fallback", "failed", "missed", "incomplete"];
export const REASONS = ["NETWORK", "AUTH", "SYSTEM", "OTHER"];
export const BUCKETS = {A: "a bug of the plugin", B: "its logic", C: "the system's own timing"};
export const BUCKETS_IN_WORDS = "A is a bug of the plugin, B its logic, C the system's own timing.";
const MARKS = {reached: ["✓", "good"], failed: ["✗", "bad"], missing: ["✗", "bad"], open: ["·", "soft"]};
const LONGEST_SENTENCE = 280;
const TONES = {used: "good", completed: "good", fallback: "warn", missed: "warn", expired: "warn", failed: "bad"};

/** "out_of_order" as "out of order", where the service names no title. */
export function words(name) {
  return String(name ?? "").replaceAll("_", " ");
}

export function cyclesLink(filter, ...text) {
  return h("a", {href: `/cycles${query(filter)}`}, ...text);
}

/**
 * What became of each stage: `reached`, `failed`, `missing` (it should be there), or `open` (the chain ended before).
 * A delivery does not need the prefetch; it is missing only where the outcome says so.
 */
export function stageStates(cycle) {
  const stages = cycle.stages ?? {};
  const chain = STAGES.slice(0, 4);
  const last = chain.findLastIndex(stage => stages[stage]);
  const states = {};
  let ended = false;
  chain.forEach((stage, index) => {
    if (stages[stage]) states[stage] = "reached";
    else if (stage === "success" && stages.failure) states[stage] = "failed";
    else states[stage] = ended ? "open" : "missing";
    if (index > last) ended = true;
  });
  states.delivered = stages.delivered ? "reached" : cycle.outcome === "failed" ? "missing" : "open";
  return states;
}

/** A mark, whose meaning stands beside it or in `text`. */
export function mark(state, text) {
  const [sign, tone] = MARKS[state];
  const attributes = text ? {title: text} : {};
  return h(
    `span.mark.${tone}`,
    attributes,
    h("span", {"aria-hidden": "true"}, sign),
    text && h("span.unseen", `${text}. `)
  );
}

export function marks(cycle) {
  const states = stageStates(cycle);
  return h(
    "span.marks",
    STAGES.map(stage => {
      const state = states[stage];
      const failure = state === "failed";
      const at = instant(cycle.stages?.[failure ? "failure" : stage]);
      const told = {failed: `failed ${cycle.reason ?? ""}`, open: "not reached"}[state] ?? state;
      return mark(state, `${stage}: ${told}${at ? `, ${timeText(at)}` : ""}`);
    })
  );
}

/** The outcome, a failure's reason, and the worst bucket. */
export function outcomePill(cycle) {
  const bucket = (cycle.violations ?? []).map(violation => violation.bucket).sort()[0];
  const tone = bucket === "A" ? "bad" : bucket && cycle.outcome === "used" ? "warn" : (TONES[cycle.outcome] ?? "soft");
  const text = [cycle.outcome, cycle.outcome !== "used" && cycle.reason, bucket].filter(Boolean).join(", ");
  return h(`span.pill.${tone}`, short(text, 24));
}

// A time of the service's own words, which are in UTC.
const MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)/;

function isMoment(each) {
  return typeof each === "string" && each.length < 36 && each.replace(MOMENT, "") === "";
}

/** A sentence with its times in the zone of the page. */
function sentenceWithTimes(sentence) {
  if (sentence.length > LONGEST_SENTENCE) return value(sentence);
  const parts = sentence.split(MOMENT).filter(part => part !== "");
  return parts.map(part => (MOMENT.test(part) ? time(part, "full") : h("bdi", part)));
}

export function violationNote(violation, ...extra) {
  const detail = String(violation.detail ?? "");
  const sentence = detail && `${detail[0].toUpperCase()}${detail.slice(1)}${/[.!?]$/.test(detail) ? " " : ". "}`;
  const name = short(violation.title || words(violation.violation));
  const bold = h("b", {title: BUCKETS[violation.bucket]}, violation.bucket, ", ", name, ". ");
  const tone = {A: "bad", B: "warn"}[violation.bucket] ?? "soft";
  return h(
    `div.hint.${tone}`,
    h("p", sentenceWithTimes(sentence), " ", bold, extra),
    violation.advice && h("p", value(violation.advice))
  );
}

export function device(installation) {
  if (!installation) return h("span.soft", "-");
  const text = clean(installation).slice(0, 64);
  // What is no pseudonym may be of any width, and has to break.
  const tag = /^[0-9a-f]{16,64}$/.test(text) ? "bdi.mono.device" : "bdi.mono";
  // That of a file's device begins with zeros.
  const digits = text.replace(/^0{16}(?=.)/, "");
  return h(tag, {title: text}, `${digits.slice(0, 4)}·${digits.slice(4, 8)}`);
}

export function noteRow(columns, ...notes) {
  return h("tr.why", {role: "row"}, h("td", {role: "cell", colspan: columns}, notes));
}

export function cycleTable(caption, cycles) {
  const rows = cycles.flatMap(cycle => {
    const path = `/cycles/${Number(cycle.number)}`;
    const violations = cycle.violations ?? [];
    const about = [cycle.platform, cycle.version].filter(Boolean).join(" · ");
    const rest = violations.length - 3;
    const notes = [
      violations.slice(0, 3).map(each => violationNote(each)),
      cycle.timeWarped && h("p.small.soft", "Judged by a clock that a test moved."),
      cycle.timesAssumed && h("p.small.soft", "Its lines have no times; rules about time were not judged."),
      rest > 0 && h("p.small", h("a", {href: path}, `${rest} more`))
    ].filter(note => note && note.length !== 0);
    const facts = [
      time(cycle.due),
      h("a.mono", {href: path}, short(cycle.schedule ?? `cycle ${cycle.number}`, 48)),
      [device(cycle.installation ?? cycle.device), about && h("div.soft.small", short(about, 36))],
      marks(cycle),
      outcomePill(cycle)
    ];
    return notes.length > 0 ? [facts, noteRow(5, notes)] : [facts];
  });
  const columns = ["due.when", "schedule.schedule", "device.hide", `${STAGES.join(" · ")}.stages`, "outcome.end"];
  return table(caption, columns, rows, ".cycles");
}

/** What an event says beside its kind, time and cycle, and its JSON on demand. */
export function eventFacts(event) {
  const known = "event timestamp scheduleId installation eventId platform appVersion osVersion deviceModel".split(" ");
  const told = Object.entries(event)
    .filter(([name, each]) => !known.includes(name) && typeof each !== "object")
    .slice(0, 6)
    .map(([name, each]) =>
      h(
        "span.fact",
        h("span.soft", short(name, 24), " "),
        isMoment(each) ? time(each, "full") : short(String(each), 32)
      )
    );
  const details = h("details.json", h("summary", "JSON"));
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    // Only the line breaks of the layout are line breaks.
    const lines = JSON.stringify(event, null, 2).split("\n");
    details.append(
      h(
        "pre",
        {tabindex: "0"},
        lines.flatMap(line => [line, h("br")])
      )
    );
  });
  return [told, details];
}
