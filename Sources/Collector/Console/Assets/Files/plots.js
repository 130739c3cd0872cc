// SPDX-License-Identifier: Apache-2.0

// Plots in SVG, drawn for the width that they have. Each has a label, a cursor, and its numbers as a table.

import {h, put, s, table} from "./dom.js";
import {count, duration, instant, isUTC, share, timeText} from "./format.js";

const TICK_SECONDS = [300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 43200];

export function label(x, y, words, anchor = "start", classes = "") {
  return s(`text${classes}`, {x: Math.round(x), y: Math.round(y), "text-anchor": anchor}, words);
}

/** A figure that draws itself again when its width changes. */
export function figure(text, height, draw, ...below) {
  const svg = s("svg", {role: "img", "aria-label": text, height});
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(svg.getBoundingClientRect().width);
    if (width < 40) return;
    drawn = width;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    put(svg, ...draw(width).flat(Infinity).filter(Boolean));
  };
  new ResizeObserver(() => Math.floor(svg.getBoundingClientRect().width) !== drawn && redraw()).observe(svg);
  return {element: h("div.figure", svg, below), svg, redraw};
}

function numbersTable(caption, columns, rows) {
  const details = h("details.numbers", h("summary", "Numbers as a table"));
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    const scroll = {tabindex: "0", role: "group", "aria-label": caption};
    details.append(h("div.scroll", scroll, table(caption, columns, rows())));
  });
  return details;
}

/** A histogram. What is beyond the limit is red, and its share stands beside the limit. */
export function histogram({bounds = [], counts = [], limitSeconds}, name, beyond) {
  const total = counts.reduce((sum, each) => sum + each, 0);
  if (total === 0) return {element: h("p.none", "Nothing was measured in this time.")};
  const limit = bounds.findIndex(bound => bound >= limitSeconds);
  const split = limit < 0 ? counts.length : limit + 1;
  const over = counts.slice(split).reduce((sum, each) => sum + each, 0);
  // Empty ends say nothing; the limit always stays in sight.
  const last = Math.max(
    counts.findLastIndex(each => each > 0),
    Math.min(split, counts.length - 1)
  );
  const first = Math.max(
    0,
    Math.min(
      counts.findIndex(each => each > 0),
      split - 1,
      last - 7
    )
  );
  const shown = counts.slice(first, last + 1);
  const range = index => {
    const low = duration(index === 0 ? 0 : bounds[index - 1]);
    return index < bounds.length ? `${low} to ${duration(bounds[index])}` : `over ${low}`;
  };
  const readout = h("p.readout");
  const told = `${share(over, total)} ${beyond}`;
  const [height, top, base] = [148, 22, 128];
  const draw = width => {
    const step = width / shown.length;
    const edge = (split - first) * step;
    const bars = shown.map((each, index) => {
      const size = each > 0 ? Math.max(2, ((base - top) * each) / Math.max(...shown)) : 0;
      const place = {x: (index + 0.08) * step, width: step * 0.84, y: base - size, height: size};
      const say = words => () => put(readout, words);
      const text = `${range(first + index)}: ${count(each)} (${share(each, total)})`;
      return s(
        "g.bin",
        {on: {pointerenter: say(text), pointerleave: say("")}},
        s("rect.hit", {x: index * step, width: step, y: top, height: base - top}),
        s(`rect.${first + index < split ? "b" : "over"}`, place)
      );
    });
    // The limit's label always stands; another one only where there is room for it.
    const half = words => words.length * 3.4 + 5;
    const limitText = duration(limitSeconds);
    const taken = [[edge, half(limitText)]];
    const labels = [];
    for (let index = first; index < Math.min(last, bounds.length); index += 1) {
      const x = (index - first + 1) * step;
      const words = duration(bounds[index]);
      const fits = x - half(words) > 0 && x + half(words) < width;
      if (!fits || taken.some(([other, room]) => Math.abs(other - x) < room + half(words))) continue;
      taken.push([x, half(words)]);
      labels.push(label(x, height - 4, words, "middle"));
    }
    const isLeft = edge < width * 0.62;
    return [
      s("line.axis", {x1: 0, y1: base, x2: width, y2: base}),
      bars,
      s("line.limit", {x1: edge, y1: 4, x2: edge, y2: base + 3}),
      label(edge + (isLeft ? 6 : -6), 14, told, isLeft ? "start" : "end", over > 0 ? ".red" : ""),
      label(Math.min(edge, width - half(limitText)), height - 4, limitText, "middle", ".strong"),
      labels
    ];
  };
  const rows = () => counts.map((each, index) => [range(index), count(each), share(each, total)]);
  const numbers = numbersTable(name, ["from, to", "count.num", "share.num"], rows);
  const text = `${name}: ${count(total)} measured, ${told} than ${duration(limitSeconds)}.`;
  return figure(text, height, draw, readout, numbers);
}

/** Stretches of values that are known, or not, as `[first, last]`. */
function stretches(values, known) {
  const found = [];
  values.forEach((each, index) => {
    if (Number.isFinite(each) !== known) return;
    if (found.at(-1)?.[1] === index - 1) found.at(-1)[1] = index;
    else found.push([index, index]);
  });
  return found;
}

function niceCeiling(number) {
  const size = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 4, 5, 10].map(factor => factor * size).find(each => each >= number);
}

/** Lines over time. A value that is null was not recorded, and shows as a gap. */
export function lines({start, stepSeconds}, series, name, unit) {
  const begin = instant(start);
  const steps = series[0].values.length;
  const end = begin + steps * stepSeconds;
  const at = index => begin + index * stepSeconds;
  const [height, top, base] = [176, 16, 156];
  const readout = h("p.readout");
  const isKnown = index => series.some(each => Number.isFinite(each.values[index]));
  const gaps = stretches(
    series[0].values.map((_, index) => (isKnown(index) ? 0 : null)),
    false
  );

  const draw = width => {
    const most = niceCeiling(Math.max(2, ...series.flatMap(each => each.values.filter(Number.isFinite))));
    const left = count(most).length * 6.6 + 8;
    const x = index => left + ((width - left - 2) * index) / steps;
    const y = each => base - ((base - top) * each) / most;
    const grid = [0, most / 2, most].map(each => [
      s("line.axis", {x1: left, y1: y(each), x2: width, y2: y(each)}),
      label(left - 6, y(each) + 4, count(each), "end")
    ]);
    const notRecorded = gaps.map(([first, last]) => {
      const room = x(last + 1) - x(first);
      return [
        s("rect.gap", {x: x(first), width: room, y: top, height: base - top}),
        room > 84 && label(x(first) + room / 2, (top + base) / 2, "not recorded", "middle")
      ];
    });
    const curves = series.map(({tone, values}) =>
      stretches(values, true).map(([first, last]) => {
        const points = values.slice(first, last + 1).map((each, index) => [x(first + index + 0.5), y(each)]);
        // A single value is a short line, not nothing.
        if (first === last) points.push([points[0][0] + 3, points[0][1]]);
        return s(`polyline.line.${tone}`, {points: points.map(point => point.map(Math.round)).join(" ")});
      })
    );
    const spacing = TICK_SECONDS.find(each => ((end - begin) / each) * 52 < width - left) ?? 86400;
    const offset = isUTC() ? 0 : new Date(end * 1000).getTimezoneOffset() * -60;
    const ticks = [];
    for (let tick = Math.ceil((begin + offset) / spacing) * spacing - offset; tick <= end; tick += spacing) {
      const place = Math.min(width - 17, Math.max(17, x((tick - begin) / stepSeconds)));
      ticks.push(label(place, height - 4, timeText(tick, "minute"), "middle"));
    }
    const cursor = s("line.cursor", {y1: top, y2: base, visibility: "hidden"});
    const move = event => {
      const pixels = event.clientX - plot.svg.getBoundingClientRect().left;
      const index = Math.max(0, Math.min(steps - 1, Math.floor((steps * (pixels - left)) / (width - left - 2))));
      cursor.setAttribute("x1", x(index + 0.5));
      cursor.setAttribute("x2", x(index + 0.5));
      cursor.setAttribute("visibility", "visible");
      const told = series.map(each => `${each.name} ${count(each.values[index])}`).join(" · ");
      put(readout, `${timeText(at(index), "minute")}  ${isKnown(index) ? told : "not recorded"}`);
    };
    const leave = () => {
      cursor.setAttribute("visibility", "hidden");
      put(readout);
    };
    const on = {pointermove: move, pointerleave: leave};
    return [
      grid,
      notRecorded,
      curves,
      ticks,
      cursor,
      s("rect.hit", {x: left, width: width - left, y: 0, height: base, on})
    ];
  };

  const legend = series.map(each => {
    const key = s(`line.line.${each.tone}`, {x1: 0, y1: 5, x2: 18, y2: 5});
    return h("span", s("svg", {height: 10, "aria-hidden": "true"}, key), each.name);
  });
  const rows = () =>
    series[0].values
      .map((_, index) => [timeText(at(index)), ...series.map(each => count(each.values[index]))])
      .reverse();
  const numbers = numbersTable(name, ["from", ...series.map(each => `${each.name}.num`)], rows);
  const executed = series[1].values;
  const most = Math.max(...executed.filter(Number.isFinite));
  const peak = most > 0 ? `; most executions at ${timeText(at(executed.indexOf(most)), "minute")}: ${count(most)}` : "";
  const lost = gaps.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const text = `${name}, ${unit}${peak}; ${lost > 0 ? `${lost} of ${steps} values were not recorded` : "no gaps"}.`;
  const plot = figure(text, height, draw, readout, h("div.legend", legend), numbers);
  return {...plot, peak};
}

/** Parts of a whole as one bar, each as `[tone, number]`. */
export function stackedBar(text, parts, total = parts.reduce((sum, [, number]) => sum + number, 0)) {
  let x = 0;
  const fills = parts.map(([tone, number]) => {
    const width = total > 0 ? (100 * number) / total : 0;
    x += width;
    return s(`rect.fill.${tone}`, {x: x - width, width, height: 1});
  });
  const attributes = {viewBox: "0 0 100 1", preserveAspectRatio: "none", height: 8};
  const spoken = text ? {role: "img", "aria-label": text} : {"aria-hidden": "true"};
  return s("svg.bar", {...attributes, ...spoken}, fills);
}

/** A part of 1 as a bar; its meaning stands beside it in words. */
export function bar(part, tone = "accent") {
  const size = Math.max(0, Math.min(1, part || 0));
  return stackedBar("", [[tone, size]], 1);
}
