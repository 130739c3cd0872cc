// SPDX-License-Identifier: Apache-2.0

// The time line of a cycle against its plan: a lane for each stage, the window in which the task may start, the
// tolerated drift. Hours in which nothing happens are cut out of the axis, and the cut is marked.

import {s} from "./dom.js";
import {difference, duration, instant, timeText} from "./format.js";
import {STAGES, stageStates} from "./parts.js";
import {figure, label} from "./plots.js";

const LONGEST_GAP_SECONDS = 1800;
const LANE = 30;
const TOP = 42;
const BOTTOM = TOP + STAGES.length * LANE;
const STATES = {missing: "✗ never seen", failed: "✗ failed", open: "· not reached", reached: "✓ without a time"};

/** A scale from times to pixels, cut between times that are more than half an hour apart. */
function brokenScale(instants, from, to) {
  const times = [...new Set(instants)].sort((a, b) => a - b);
  const steps = times.slice(1).map((at, index) => at - times[index]);
  const isCut = step => step > LONGEST_GAP_SECONDS;
  const shownSeconds = steps.filter(step => !isCut(step)).reduce((sum, step) => sum + step, 0);
  const cutCount = steps.filter(isCut).length;
  const cutWidth = shownSeconds > 0 ? Math.min(64, (to - from) / 6) : (to - from) / Math.max(1, cutCount);
  const perSecond = (to - from - cutCount * cutWidth) / (shownSeconds || 1);
  const places = [steps.length > 0 ? from : (from + to) / 2];
  const cuts = [];
  for (const step of steps) {
    const width = isCut(step) ? cutWidth : step * perSecond;
    if (isCut(step)) cuts.push({x: places.at(-1) + width / 2, seconds: step});
    places.push(places.at(-1) + width);
  }
  return {x: seconds => places[times.indexOf(seconds)], cuts};
}

export function timeline(cycle, plan) {
  const stages = cycle.stages ?? {};
  const states = stageStates(cycle);
  const begin = instant(plan.earliestBegin);
  const due = instant(plan.due ?? cycle.due);
  const window = [begin, begin + plan.startLimitSeconds];
  const drift = [due - plan.driftLimitSeconds, due + plan.driftLimitSeconds];
  const lanes = STAGES.map((stage, index) => {
    const name = states[stage] === "failed" ? "failure" : stage;
    return {stage, name, state: states[stage], at: instant(stages[name]), y: TOP + (index + 0.5) * LANE};
  });
  const isLate = ({stage, at}) =>
    (stage === "executed" && at > window[1]) || (stage === "delivered" && (at < drift[0] || at > drift[1]));
  const instants = [...window, ...drift, due, ...lanes.map(lane => lane.at)].filter(Number.isFinite);

  const draw = width => {
    const isNarrow = width < 520;
    const gutter = isNarrow ? 74 : 96;
    const edge = isNarrow ? 16 : 40;
    const {x, cuts} = brokenScale(instants, gutter + edge, width - edge);
    const bands = Object.entries({accent: window, good: drift})
      .filter(([, [low]]) => Number.isFinite(low))
      .map(([name, [low, high]]) =>
        s(`rect.band.${name}`, {x: x(low), width: x(high) - x(low), y: TOP, height: BOTTOM - TOP})
      );
    // The words of the plan stand in two rows, so that they never overlap.
    const planned = (seconds, words, y) => {
      if (!Number.isFinite(seconds)) return [];
      const half = words.length * 3.3;
      const line = s("line.thread", {x1: x(seconds), x2: x(seconds), y1: y + 4, y2: BOTTOM});
      return [line, label(Math.max(half, Math.min(width - half, x(seconds))), y, words, "middle", ".halo.strong")];
    };
    const plans = [
      planned(begin, `earliest begin ${timeText(begin, "minute")}`, 13),
      planned(due, `notification ${timeText(due, "minute")}`, 30)
    ];
    const marks = cuts.map(cut => [
      s("rect.gap", {x: cut.x - 4, width: 8, y: TOP, height: BOTTOM - TOP}),
      s("path.thread", {d: `M${cut.x - 4} ${TOP}${"l8 5 l-8 5".repeat((BOTTOM - TOP) / 10)}`}),
      label(cut.x, BOTTOM + 12, duration(cut.seconds), "middle")
    ]);
    let before = null;
    // Labels lie on top of threads and cuts.
    const labels = [];
    // Words begin behind a cut that they would cross.
    const clear = (place, words) => {
      const end = place + words.length * 7.2;
      return cuts.reduce((from, cut) => (cut.x + 6 > from && cut.x - 6 < end ? cut.x + 10 : from), place);
    };
    const drawn = lanes.map(lane => {
      const {y, at, stage} = lane;
      const axis = s("line.axis", {x1: gutter, x2: width, y1: y, y2: y});
      const isBad = ["failed", "missing"].includes(lane.state) || isLate(lane);
      const say = (place, words, anchor) =>
        labels.push(label(place, y + 4, words, anchor, `.halo${isBad ? ".red" : ""}`));
      labels.push(label(0, y + 4, lane.name));
      if (!Number.isFinite(at)) {
        say(clear(gutter + 6, STATES[lane.state]), STATES[lane.state], "start");
        return axis;
      }
      const path = before && `M${x(before.at)} ${before.y} V${(before.y + y) / 2} H${x(at)} V${y}`;
      before = lane;
      const off = at - ({executed: begin, used: due, delivered: due}[stage] ?? Number.NaN);
      const words = `${timeText(at).slice(-8)}${Number.isFinite(off) && !isNarrow ? ` (${difference(off)})` : ""}`;
      const fits = x(at) + 10 + words.length * 7.2 < width;
      say(fits ? clear(x(at) + 10, words) : x(at) - 10, words, fits ? "start" : "end");
      const point = s(`circle.fill.${isBad ? "bad" : "good"}`, {cx: x(at), cy: y, r: 5});
      return [axis, path && s("path.thread", {d: path}), point];
    });
    return [bands, marks, plans, drawn, labels];
  };
  const told = lanes
    .map(lane => `${lane.name} ${Number.isFinite(lane.at) ? timeText(lane.at) : lane.state}`)
    .join(", ");
  const text = `Time line. Plan: earliest begin ${timeText(begin)}, notification ${timeText(due)}. Stages: ${told}.`;
  return figure(text, BOTTOM + 16, draw);
}
