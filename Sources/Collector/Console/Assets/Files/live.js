// SPDX-License-Identifier: Apache-2.0

// Events as they are committed. The stream is closed while nobody sees the page, since it takes one of the browser's few
// connections to the service.

import {get, query} from "./api.js";
import {button, h, put, short, table} from "./dom.js";
import {filterBar} from "./filters.js";
import {count, counted, time} from "./format.js";
import {cyclesLink, device, eventFacts, words} from "./parts.js";

const KEPT_ROWS = 500;
const DRAW_MILLISECONDS = 250;
const SUMMARY_SECONDS = 15;
const LONGEST_WAIT_SECONDS = 30;
const COLUMNS = ["time.when", "event.kind", "schedule.schedule", "device.hide", "what it says.wide"];
const WRONG = /fail|expired|missed|denied|error|missing|drift/;

export function open(app) {
  let stream = null;
  let waiting = [];
  let last = "";
  let isPaused = false;
  let hasEnded = false;
  let [shown, leftOut, whilePaused, sinceSummary, errors, timer, drawing] = [0, 0, 0, 0, 0, 0, 0];
  const state = h("p.about");
  const spoken = h("p.unseen", {role: "status"});
  const counts = h("p");
  const none = h("p.none", "No event has come yet. Events show here in the moment in which they are committed.");
  const list = table("Events, newest first", COLUMNS, [], ".events");
  const body = list.querySelector("tbody");

  const text = (name, value) => [h("span.soft", name, " "), short(name === "kind" ? words(value) : value, 40)];
  const bar = filterBar(app, "/live", ["kind", "platform", "version", "schedule", "installation"], text, () => {
    reset();
    connect();
  });
  bar.menu("kind", "Kind", []);
  bar.field("platform", "platform");
  bar.field("version", "version");
  bar.field("schedule", "schedule id", {"data-filter": true});
  bar.field("installation", "device, its pseudonym");

  const say = (tone, ...what) => put(state, h(`span.dot.${tone}`), ...what);
  const listening = () =>
    isPaused
      ? say("edge", "Paused. Events that come now are counted, and show on Resume.")
      : say("good", "Listening. The stream closes while this page is hidden.");
  const showCounts = () => {
    const warnings = [
      leftOut > 0 && ` · ${count(leftOut)} stored and not shown, since more came than a person reads`,
      isPaused && ` · paused, ${count(whilePaused)} came since`
    ];
    const kept = shown > KEPT_ROWS ? `, the newest ${KEPT_ROWS} stay` : "";
    put(counts, h("b", counted(shown, "event")), kept, h("span.warn", warnings));
    none.hidden = body.childElementCount > 0;
    list.hidden = !none.hidden;
  };
  const draw = () => {
    clearTimeout(drawing);
    drawing = 0;
    if (!isPaused) {
      // A table of its own makes the rows with their roles.
      const rows = table("", COLUMNS, waiting.splice(0).map(eventCells).reverse()).querySelectorAll("tbody tr");
      body.prepend(...rows);
      while (body.childElementCount > KEPT_ROWS) body.lastElementChild.remove();
    }
    showCounts();
  };
  const reset = () => {
    waiting = [];
    shown = leftOut = whilePaused = 0;
    put(body);
    showCounts();
  };
  const receive = message => {
    const {events = [], leftOut: more} = JSON.parse(message.data);
    last = message.lastEventId;
    leftOut += Number(more) || 0;
    sinceSummary += events.length;
    if (isPaused) whilePaused += events.length;
    else shown += events.length;
    waiting.push(...events);
    const surplus = waiting.splice(0, Math.max(0, waiting.length - KEPT_ROWS)).length;
    if (!isPaused) {
      leftOut += surplus;
      shown -= surplus;
    }
    drawing ||= setTimeout(draw, DRAW_MILLISECONDS);
  };
  const pause = button("Pause", () => {
    draw();
    isPaused = !isPaused;
    put(pause, isPaused ? "Resume" : "Pause");
    if (stream?.readyState === EventSource.OPEN) listening();
    if (!isPaused) {
      shown += waiting.length;
      leftOut += whilePaused - waiting.length;
    }
    whilePaused = 0;
    draw();
  });

  const disconnect = () => {
    clearTimeout(timer);
    stream?.close();
    stream = null;
  };
  const connect = () => {
    disconnect();
    hasEnded = false;
    if (document.hidden) return;
    say("edge", "Connecting.");
    const mine = new EventSource(`/api/v1/live${query({...bar.values, after: last})}`);
    stream = mine;
    mine.addEventListener("open", () => {
      errors = 0;
      listening();
    });
    mine.addEventListener("events", receive);
    mine.addEventListener("end", event => {
      const {reason} = JSON.parse(event.data || "{}");
      hasEnded = true;
      disconnect();
      say(
        "bad",
        "The service ended the stream: ",
        short(reason ?? "no reason given", 200),
        ". ",
        button("Listen again", connect)
      );
      spoken.textContent = "The stream ended.";
    });
    mine.addEventListener("error", () => {
      if (mine !== stream) return;
      errors += 1;
      // The browser's own attempt resumes behind the last event. Where that fails, or the answer is no stream, ask again
      // with growing waits.
      if (mine.readyState !== EventSource.CLOSED && errors < 3)
        return say("bad", "The connection was lost; trying again.");
      disconnect();
      const wait = Math.min(LONGEST_WAIT_SECONDS, 2 ** errors) * (0.75 + 0.5 * Math.random());
      say("bad", `Not connected; tries again in ${Math.ceil(wait)} s.`);
      timer = setTimeout(connect, wait * 1000);
    });
  };
  const visibility = () => {
    if (hasEnded) return;
    if (!document.hidden) return connect();
    disconnect();
    say("edge", "The page was hidden, so the stream is closed.");
  };
  document.addEventListener("visibilitychange", visibility);
  const summary = setInterval(() => {
    if (sinceSummary > 0 && !isPaused) {
      spoken.textContent = `${counted(sinceSummary, "event")} in the last ${SUMMARY_SECONDS} seconds.`;
    }
    sinceSummary = 0;
  }, SUMMARY_SECONDS * 1000);

  const title = h("div.title", h("h1", "Live"), h("div.row", pause, button("Clear", reset)));
  app.main.append(h("section.w12", title, state, bar.element(), counts, none, list, spoken));
  bar.show();
  showCounts();
  connect();
  app.attempt(async signal => {
    const {kinds = []} = await get("/api/v1/filters", signal);
    bar.fill(
      "kind",
      kinds.map(kind => [kind, words(kind), kind.startsWith("refresh") ? "second app" : "plugin"])
    );
  });
  return {
    close() {
      disconnect();
      clearTimeout(drawing);
      clearInterval(summary);
      document.removeEventListener("visibilitychange", visibility);
    }
  };
}

function eventCells({event = {}, receivedAt}) {
  const schedule = event.scheduleId;
  return [
    time(event.timestamp ?? receivedAt),
    h(`b${WRONG.test(event.event) ? ".bad" : ""}`, short(words(event.event), 48)),
    schedule ? cyclesLink({schedule: String(schedule).slice(0, 128)}, h("span.mono", short(schedule, 40))) : "-",
    device(event.installation),
    eventFacts(event)
  ];
}
