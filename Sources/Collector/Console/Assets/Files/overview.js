// SPDX-License-Identifier: Apache-2.0

// The overview: how far each prefetch came, what went wrong and where to look.

import {get} from "./api.js";
import {facts, h, refill, short, table, titled} from "./dom.js";
import {count, counted, duration, share, time} from "./format.js";
import {BUCKETS_IN_WORDS, cyclesLink, cycleTable, OUTCOMES, words} from "./parts.js";
import {bar, histogram, lines, stackedBar} from "./plots.js";

const WRONG_CYCLES = "/api/v1/cycles?wrong=true&limit=8";
const OUTCOME_TONES = {used: "good", fallback: "warn", failed: "bad", missed: "miss", incomplete: "edge"};
const LINE_TONES = {scheduled: "edge", executed: "accent", success: "good", failure: "bad", used: "used"};

export function open(app) {
  const places = {};
  const place = (name, width) => {
    places[name] = h(`section.${width}`, {hidden: true});
    return places[name];
  };
  const wrongNote = h("div");
  const wrongTable = h("div", h("p.none", "Asking for the newest cycles."));
  places.funnel = h("div", h("p.none", "Asking the service."));
  app.main.append(
    h("section.w12", h("h1", "Prefetch lifecycle"), places.funnel),
    ...["outcomes", "delay", "drift"].map(name => place(name, "w4")),
    h(
      "section.w8",
      titled("Cycles that went wrong", `Newest first. ${BUCKETS_IN_WORDS}`, lists(), wrongNote, wrongTable)
    ),
    h("div.w4.stacked", place("failures", "part"), place("fallbacks", "part"), place("now", "part")),
    place("hour", "w6"),
    place("day", "w6"),
    place("refresh", "w12")
  );
  let data = null;
  let closedCycles = null;

  const draw = () => {
    if (!data) return;
    const {day = {}, minutes, quarters, startDelay, drift} = data;
    const fill = (name, signature, build) => {
      refill(places[name], signature, build);
      places[name].hidden = places[name].childElementCount === 0;
    };
    fill("funnel", [day, data.total], () => funnel(day, data.total ?? {}));
    fill("outcomes", [day.outcomes, day.from], () => outcomes(day));
    const window = `From the earliest begin to the execution; the window is ${duration(startDelay?.limitSeconds)}.`;
    const late = {violation: "missed_window"};
    fill("delay", startDelay, () => limited(startDelay, "Start delay", window, "later", late));
    const tolerated = `From the planned time to the delivery; ${drift?.limitSeconds} s are tolerated on iOS, 60 s on Android.`;
    const off = {violation: "drift_exceeded"};
    fill("drift", drift, () => limited(drift, "Notification drift", tolerated, "over", off));
    fill("failures", [day.failures, day.from], () => failures(day));
    fill("fallbacks", [day.fallbackCauses, day.from], () => fallbacks(day));
    fill("now", [data.status, data.hour, data.now], () => now(data));
    fill("hour", minutes, () => recent(minutes, "last hour", "per minute"));
    fill("day", quarters, () => recent(quarters, "last day", "per 15 min"));
    fill("refresh", data.refresh, () => (data.refresh ? refresh(data.refresh) : []));
  };
  const loadWrong = () =>
    app.attempt(async signal => {
      const answer = await get(WRONG_CYCLES, signal);
      refill(wrongTable, answer.cycles, () => wrong(answer));
    }, wrongNote);

  return {
    update(answer) {
      data = answer;
      draw();
      if (closedCycles === data.status?.closedCycles) return;
      closedCycles = data.status?.closedCycles;
      loadWrong();
    },
    redraw() {
      for (const each of Object.values(places)) each.shown = undefined;
      draw();
    }
  };
}

function windowName(window) {
  if (window.complete !== false) return "last 24 hours";
  return window.from ? ["since ", time(window.from)] : "so far";
}

function funnel(day, total) {
  const verbs = {executed: "never ran", success: "failed or never ended", used: "not used"};
  const stages = ["scheduled", "executed", "success", "used"];
  const items = stages.map((stage, index) => {
    const before = stages[index - 1];
    const ratio = [h("p.r.soft", "tasks handed to the system")];
    if (before) {
      const usual = total[stage] / total[before];
      const isLow = day[before] >= 20 && day[stage] / day[before] < usual - 0.02;
      const words = `${share(day[stage], day[before])} of ${before}${isLow ? `, usually ${share(usual, 1)}` : ""}`;
      // Events of one stage alone may come, or those of the stage before may have come a day ago.
      if (day[stage] > day[before]) ratio[0] = h("p.r.soft", `more than ${before}`);
      else ratio[0] = day[before] > 0 ? h(`p.r.${isLow ? "warn" : "good"}`, words) : h("p.r.soft", "nothing yet");
      const lost = day[before] - day[stage];
      const link = lost > 0 && cyclesLink({stage: before, lacks: stage}, `${count(lost)} ${verbs[stage]}`);
      ratio.push(h("p.soft", link || "none lost"));
    }
    return h(
      "li",
      h("p.soft", stage === "used" ? "used for the notification" : stage),
      h("p.n", cyclesLink({stage}, count(day[stage]))),
      ratio[0],
      bar(day.scheduled > 0 ? day[stage] / day.scheduled : 0),
      ratio[1]
    );
  });
  const about = [
    "How far each scheduled prefetch came, ",
    windowName(day),
    ". The numbers count events, also of cycles that are still open; each leads to its closed cycles, the last ones first."
  ];
  const judge = h("a", {href: "/judge"}, "judge a log here");
  const none = h(
    "p.none",
    "No event has arrived yet. Send some to ",
    h("code", "POST /v1/events"),
    ", or ",
    judge,
    "."
  );
  return [h("p.about", about), h("ol.funnel", items), total.received === 0 && none];
}

function sum(numbers) {
  return Object.values(numbers ?? {}).reduce((all, each) => all + each, 0);
}

function breakdown(caption, numbers, link, tones = {}) {
  const all = sum(numbers);
  const rows = Object.entries(numbers).map(([name, number]) => [
    [tones[name] && h(`span.key.${tones[name]}`), short(words(name), 40)],
    number > 0 && link ? cyclesLink(link(name), count(number)) : count(number),
    h("span.soft", share(number, all))
  ]);
  return table(caption, ["name", "count.num", "share.num"], rows, ".quiet");
}

function outcomes(day) {
  const numbers = Object.fromEntries(OUTCOMES.map(name => [name, day.outcomes?.[name] ?? 0]));
  const parts = OUTCOMES.map(name => [OUTCOME_TONES[name], numbers[name]]);
  const list = breakdown("Cycles by outcome", numbers, outcome => ({outcome}), OUTCOME_TONES);
  const about = [counted(sum(numbers), "closed cycle"), ", ", windowName(day)];
  return titled("How cycles ended", about, stackedBar("How cycles ended, as a bar; numbers follow", parts), list);
}

function limited(data, name, about, beyond, filter) {
  const plot = histogram(data, name, beyond);
  const beyondLimit = sum(data?.counts) > 0 && h("p.small", cyclesLink(filter, "Cycles beyond the limit"));
  return titled(name, about, plot.element, beyondLimit);
}

function failures(day) {
  const numbers = Object.fromEntries(
    Object.entries(day.failures ?? {}).filter(([name, number]) => number > 0 || name !== "OTHER")
  );
  const list = breakdown("Failures by reason", numbers, reason => ({reason}));
  return titled("Why it failed", `${counted(sum(numbers), "failure")} by reason`, list);
}

function fallbacks(day) {
  const causes = Object.fromEntries(Object.entries(day.fallbackCauses ?? {}).sort((a, b) => b[1] - a[1]));
  const link = cyclesLink({outcome: "fallback"}, "cycles that ended with one");
  const about = [counted(sum(causes), "fallback"), " by cause; ", link];
  return titled("Why content was fetched on demand", about, breakdown("Fallbacks by cause", causes));
}

function now({status = {}, hour = {}, day = {}, version, now}) {
  const journal = status.journal ?? {};
  const isOff = journal.mode === "off";
  const buckets = ["A", "B", "C"].map(bucket => [
    bucket > "A" && " · ",
    cyclesLink({bucket}, count(day.violations?.[bucket] ?? 0))
  ]);
  return titled(
    "Now",
    ["Version ", short(version ?? "-", 30), ", ", time(now)],
    facts("State of the service", [
      ["Open cycles", count(status.openCycles)],
      ["Violations A · B · C, last day", buckets],
      ["Waiting for the journal", isOff ? "journal off" : counted(journal.pending, "event")],
      !isOff && ["Oldest event waiting", duration(journal.oldestSeconds ?? 0)],
      ["Received, last hour", count(hour.received)],
      ["Duplicates, last hour", count(hour.duplicates)],
      ["Rejected, last hour", hour.rejected > 0 ? h("a.warn", {href: "/health"}, count(hour.rejected)) : "0"],
      ["Closed cycles, all time", count(status.closedCycles)],
      ["Kept to look at", `${count(status.indexedCycles)} of at most ${count(status.indexLimit)}`]
    ])
  );
}

function recent(data, name, unit) {
  const series = Object.entries(LINE_TONES).map(([stage, tone]) => ({name: stage, tone, values: data[stage] ?? []}));
  const plot = lines(data, series, `Stages, ${name}`, unit);
  return titled(`Stages, ${name}`, `Counted ${unit}, kept by the service itself${plot.peak}`, plot.element);
}

function refresh({day = {}, total = {}}) {
  const numbers = {...day.runs, "notifications sent": day.notificationsSent, violations: day.violations};
  const tone = name => (day[name] > 0 && name === "violations" ? ".warn" : "");
  const items = Object.entries(numbers).map(([name, number]) =>
    h("li", h("p.soft.small", name), h(`b${tone(name)}`, count(number)))
  );
  const runs = [counted(sum(day.runs), "run"), " of com.aiq.refresh closed, "];
  const about = [runs, windowName(day), "; ", count(sum(total.runs)), " in all"];
  return titled("Background refresh, the second app", about, h("ul.facts", items));
}

function lists() {
  const chips = [
    ["all", {}],
    ...OUTCOMES.slice(1).map(outcome => [outcome, {outcome}]),
    ["plugin bugs", {bucket: "A"}],
    ["AUTH", {reason: "AUTH"}]
  ];
  return h(
    "nav.chips",
    {"aria-label": "Lists of cycles"},
    chips.map(([name, filter]) => cyclesLink(filter, name))
  );
}

function wrong({cycles, indexed}) {
  if (cycles.length > 0) {
    const all = h("p.more", cyclesLink({wrong: "true"}, "All cycles that went wrong"));
    return [cycleTable("The newest cycles that went wrong", cycles), all];
  }
  const closing = "No cycle has closed yet. A cycle closes 15 min after its delivery, or 24 h after its time.";
  return h("p.none", indexed > 0 ? `None of the ${counted(indexed, "closed cycle")} went wrong.` : closing);
}
