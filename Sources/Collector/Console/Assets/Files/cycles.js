// SPDX-License-Identifier: Apache-2.0

// The list of closed cycles, newest first, with its filters in the address.

import {ApiError, get, post, query} from "./api.js";
import {button, h, put, short} from "./dom.js";
import {filterBar} from "./filters.js";
import {count, counted, fromField, instant, time, timeText, toField} from "./format.js";
import {BUCKETS, cycleTable, OUTCOMES, REASONS, STAGES, words} from "./parts.js";

const PAGE = 50;
const NAMES = "wrong outcome violation bucket reason platform version stage lacks from to schedule installation".split(
  " "
);
const LABELS = {from: "due from", to: "due before", stage: "reached", lacks: "without", installation: "device"};

// The list that was left last, so that "back" shows it again, where it was.
let left = null;

export function open(app) {
  let pages = [];
  let answer = null;
  let generation = 0;
  let titles = {};
  const note = h("div");
  const results = h("div", h("p.none", "Asking for the newest cycles."));
  const summary = h("p.about", {"aria-live": "polite"});
  const more = h("p.more");
  const quick = h("div.chips", {role: "group", "aria-label": "Outcome"});

  const text = (name, value) => {
    if (name === "wrong") return "any violation, or not used";
    const moment = name === "from" || name === "to";
    const shown = moment
      ? timeText(instant(value), "full")
      : name === "violation"
        ? (titles[value] ?? words(value))
        : value;
    return [h("span.soft", LABELS[name] ?? name, " "), short(shown, 40)];
  };
  const bar = filterBar(app, "/cycles", NAMES, text, () => {
    showQuick();
    load();
  });
  const list = names => names.map(name => [name, words(name)]);
  bar.menu("violation", "Violation", []);
  bar.menu(
    "bucket",
    "Bucket",
    Object.entries(BUCKETS).map(([bucket, about]) => [bucket, `${bucket}, ${about}`])
  );
  bar.menu("reason", "Reason", list(REASONS));
  bar.menu("platform", "Platform", []);
  bar.menu("version", "Version", []);
  bar.menu("stage", "Reached", list([...STAGES, "failure"]));
  bar.menu("lacks", "Without", list([...STAGES, "failure"]));
  bar.field("schedule", "schedule id", {"data-filter": true});
  bar.field("installation", "device, its pseudonym", {maxlength: 64});
  for (const name of ["from", "to"]) bar.field(name, LABELS[name], {type: "datetime-local"}, fromField, toField);

  const showQuick = () => {
    const {wrong, outcome} = bar.values;
    const isWrong = wrong.includes("true");
    const toggle = (name, on, change) => button(name, () => bar.set(change), {"aria-pressed": String(on)}, ".chip");
    const without = name => outcome.filter(each => each !== name);
    const focus = [...quick.children].indexOf(document.activeElement);
    put(
      quick,
      toggle("all", !isWrong && outcome.length === 0, {wrong: [], outcome: []}),
      toggle("went wrong", isWrong, {wrong: isWrong ? [] : ["true"]}),
      ...OUTCOMES.map(name => {
        const on = outcome.includes(name);
        return toggle(name, on, {outcome: on ? without(name) : [...outcome, name]});
      })
    );
    quick.children[focus]?.focus();
  };

  const render = () => {
    const cycles = pages.flat();
    put(results, cycles.length > 0 ? cycleTable("Closed cycles, newest first", cycles) : empty());
    put(more);
    if (answer.next) more.append(button(cycles.length > 0 ? "Older cycles" : "Search older cycles", older));
    const since = answer.oldestClosedAt ? [", closed since ", time(answer.oldestClosedAt)] : [];
    const kept = `${count(answer.indexed)} kept to look at`;
    put(
      summary,
      `${counted(cycles.length, "cycle")} shown${answer.next ? ", there are older ones" : ""} · ${kept}`,
      ...since
    );
  };
  const empty = () => {
    if (answer.next) return h("p.none", `None among the ${counted(answer.scanned, "cycle")} that were searched.`);
    const names = [...new Set(bar.chosen().map(([name]) => name))];
    if (names.length > 0 && answer.indexed > 0) {
      const buttons = names.map(name =>
        button(`remove ${LABELS[name] ?? name}`, () => bar.set({[name]: []}), {}, ".chip")
      );
      return h("div.none", h("p", "No cycle matches all filters. Try without one of them:"), h("div.chips", buttons));
    }
    const closing = "No cycle has closed yet. A cycle closes 15 min after its delivery, or 24 h after its time.";
    const links = [
      h("a", {href: "/live"}, "Watch events as they arrive"),
      " or ",
      h("a", {href: "/judge"}, "judge a log")
    ];
    return h("div.none", h("p", closing), h("p", links, "."));
  };

  const ask = (before, signal) => get(`/api/v1/cycles${query({...bar.values, before, limit: PAGE})}`, signal);
  const load = () => {
    generation += 1;
    const mine = generation;
    results.setAttribute("aria-busy", "true");
    return app.attempt(async signal => {
      try {
        const data = await ask("", signal);
        if (mine !== generation) return;
        answer = data;
        pages = [data.cycles];
        render();
      } catch (error) {
        if (error.kind === "refused") {
          put(results, button("Remove all filters", bar.clear));
          put(more);
        }
        throw error;
      } finally {
        results.removeAttribute("aria-busy");
      }
    }, note);
  };
  const older = () => {
    const mine = generation;
    more.firstChild.disabled = true;
    return app.attempt(async signal => {
      const shown = results.querySelectorAll("tbody a").length;
      const data = await ask(answer.next, signal);
      if (mine !== generation) return;
      answer = data;
      pages.push(data.cycles);
      render();
      results.querySelectorAll("tbody a")[shown]?.focus({preventScroll: true});
    }, note);
  };

  const heading = [h("h1", "Cycles"), summary, quick];
  const find = findDevice(installation => bar.set({installation: [installation]}));
  app.main.append(h("section.w12", heading, bar.element(find), note, results, more));
  bar.show();
  showQuick();
  if (left?.search === query(bar.values) && history.state?.scroll !== undefined) {
    ({pages, answer} = left);
    render();
    scrollTo(0, history.state.scroll);
  } else {
    load();
  }
  app.attempt(async signal => {
    const lists = await get("/api/v1/filters", signal);
    const known = [...lists.violations].sort((a, b) => String(a.bucket).localeCompare(b.bucket));
    titles = Object.fromEntries(known.map(each => [each.violation, each.title]));
    const option = each => [each.violation, each.title ?? words(each.violation), `bucket ${each.bucket}`];
    bar.fill("violation", known.map(option));
    bar.fill(
      "platform",
      lists.platforms.map(name => [name, name])
    );
    bar.fill(
      "version",
      lists.versions.map(name => [name, name])
    );
    bar.show();
  });
  // The place on the page belongs to the entry of the history that is left.
  results.addEventListener("click", () => history.replaceState({scroll: scrollY}, ""), true);
  return {
    close() {
      left = answer && {search: query(bar.values), pages, answer};
    }
  };
}

/** A form that asks the service for the pseudonym of a clear id. The id is in the body of a POST, never in an address. */
function findDevice(found) {
  const input = h("input", {type: "text", autocomplete: "off", spellcheck: "false", maxlength: 256});
  const told = h(
    "p.small.soft",
    {"aria-live": "polite"},
    "The service turns the id into its pseudonym; it neither stores nor logs it."
  );
  const submit = async event => {
    event.preventDefault();
    if (!input.value) return;
    try {
      const body = JSON.stringify({installation: input.value});
      const response = await post("/api/v1/pseudonym", body, {"Content-Type": "application/json"});
      const {installation} = await response.json();
      if (!/^[0-9a-f]{16,64}$/.test(installation)) throw new ApiError("refused", "The answer is no pseudonym");
      input.value = "";
      put(told, "Filtered by its pseudonym.");
      found(installation);
    } catch (error) {
      put(told, h("span.bad", `${error.message}. `, error.detail));
    }
  };
  const label = h("label.field", h("span", "Find a device by its installation id"), input);
  const form = {method: "post", action: "/api/v1/pseudonym", on: {submit}};
  return h("form.row", form, label, h("button", {type: "submit"}, "Find"), told);
}
