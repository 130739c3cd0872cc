// SPDX-License-Identifier: Apache-2.0

// One cycle: its time line against the plan, its stages and violations, and every event of it that is still kept.

import {get} from "./api.js";
import {card, h, put, short, table, value} from "./dom.js";
import {count, counted, difference, duration, instant, time} from "./format.js";
import {
  BUCKETS_IN_WORDS,
  cyclesLink,
  eventFacts,
  mark,
  outcomePill,
  STAGES,
  stageStates,
  violationNote,
  words
} from "./parts.js";
import {timeline} from "./timeline.js";

const RETENTION = "Events are kept as long as the setting retention says; what was judged stays.";

export function open(app, url) {
  const number = Number(url.pathname.split("/")[2]);
  const note = h("div", h("p.none", "Asking for the cycle and its events."));
  const head = h("section.w12", h("h1", `Cycle ${count(number)}`), note);
  const content = h("div.contents");
  app.main.append(head, content);
  app.title(`Cycle ${number}`);
  let plot = null;

  const render = ({cycle, plan = {}, events = [], eventsComplete}) => {
    plot = timeline(cycle, plan);
    put(head, ...heading(cycle, number));
    const limits = `The system may start the task within ${duration(plan.startLimitSeconds)} of the earliest begin; the notification may be ${plan.driftLimitSeconds} s off.`;
    put(
      content,
      card("w12", "Against the plan", limits, plot.element),
      card("w6", "Stages", "Each with its difference to the plan, or to what it follows.", stagesTable(cycle, plan)),
      violations(cycle.violations ?? []),
      eventList(events, eventsComplete)
    );
  };
  const missing = () =>
    put(
      head,
      h("h1", `Cycle ${count(number)} is not kept`),
      h("p", "No cycle has closed with this number yet, or newer ones have taken its place."),
      h("p", "The verdict of a cycle that broke a rule is also in the journal:"),
      h("pre", "journalctl -t dnp-telemetry DNP_EVENT=cycle_closed"),
      cyclesLink({}, "All cycles that are kept")
    );
  app.attempt(async signal => {
    try {
      render(await get(`/api/v1/cycles/${number}`, signal));
    } catch (error) {
      if (error.kind !== "missing") throw error;
      missing();
    }
  }, note);
  return {redraw: () => plot?.redraw()};
}

function heading(cycle, number) {
  const {due, schedule, platform, version, closedAt} = cycle;
  const installation = cycle.installation ?? cycle.device;
  const facts = {
    notification: time(due, "full"),
    device: installation && cyclesLink({installation}, h("span.mono", short(installation, 32))),
    platform: platform && cyclesLink({platform}, short(platform)),
    version: version && cyclesLink({version}, short(version)),
    attempts: count(cycle.attempts),
    closed: time(closedAt, "full"),
    "in the journal": cycle.cycle && h("code", "DNP_CYCLE=", short(cycle.cycle, 32))
  };
  const list = Object.entries(facts).map(([name, what]) => h("li", h("p.soft.small", name), what || "-"));
  return [
    h("p.small", cyclesLink({}, "Cycles"), ` / ${count(number)}`),
    h("div.title", h("h1", schedule ? value(schedule) : `Cycle ${count(number)}`), outcomePill(cycle)),
    h("ul.facts", list),
    schedule && h("p.small", cyclesLink({schedule}, "All cycles of this schedule")),
    cycle.timeWarped &&
      h("p.hint.warn", "A test moved the clock of this device; planned times follow the moved clock."),
    cycle.timesAssumed &&
      h("p.hint.warn", "Its lines have no times: their order counts, and no rule about time judged it.")
  ].filter(Boolean);
}

function stagesTable(cycle, plan) {
  const stages = cycle.stages ?? {};
  const states = stageStates(cycle);
  const at = stage => instant(stages[stage]);
  const due = instant(plan.due ?? cycle.due);
  const references = {
    scheduled: [due, "to the notification"],
    executed: [instant(plan.earliestBegin), "to the earliest begin"],
    success: [at("executed"), "to the execution"],
    failure: [at("executed"), "to the execution"],
    used: [due, "to its time"],
    delivered: [due, "to its time"]
  };
  const shown = STAGES.flatMap(stage => (stage === "success" && stages.failure ? ["failure", "success"] : [stage]));
  const rows = shown
    .filter(stage => stage !== "success" || states.success !== "failed")
    .map(stage => {
      const [reference, to] = references[stage];
      const off = at(stage) - reference;
      const isLate =
        (stage === "executed" && off > plan.startLimitSeconds) ||
        (stage === "delivered" && Math.abs(off) > plan.driftLimitSeconds);
      const told = Number.isFinite(off) ? `${difference(off)} ${to}` : "";
      const name = stage === "failure" && cycle.reason ? `failure, ${cycle.reason}` : stage;
      const state = stage === "failure" ? "failed" : states[stage];
      const seen = {missing: "never seen", open: "not reached"}[state];
      return [
        mark(state),
        name,
        seen ? h("span.soft", seen) : time(stages[stage], "full"),
        h(`span.${isLate ? "bad" : "soft"}`, told)
      ];
    });
  return table("Stages of the cycle", ["mark", "stage", "time", "difference"], rows, ".quiet");
}

function violations(broken) {
  if (broken.length === 0) return card("w6", "Violations", "", h("p.none", "No rule of the lifecycle was broken."));
  const others = each => cyclesLink({violation: each.violation}, "Others like it");
  const notes = broken.map(each => violationNote(each, others(each)));
  return card("w6", counted(broken.length, "violation"), BUCKETS_IN_WORDS, notes);
}

function eventList(events, isComplete) {
  if (events.length === 0) return card("w12", "Events", "", h("p.none", "Its events are no longer kept. ", RETENTION));
  const rows = events.map(({sequence, receivedAt, event = {}}) => [
    count(sequence),
    time(event.timestamp, "full"),
    h("b", short(words(event.event), 48)),
    eventFacts(event),
    time(receivedAt, "full")
  ]);
  const columns = ["number.num.hide", "time.when", "event.kind", "what it says.wide", "received.hide.soft"];
  const order = `${counted(events.length, "event")}, in the order in which they were committed.`;
  const about = isComplete === false ? `Older ones are no longer kept. ${RETENTION}` : order;
  return card("w12", "Events", about, table("Events of the cycle", columns, rows, ".events"));
}
