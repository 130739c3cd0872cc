// SPDX-License-Identifier: Apache-2.0

// The frame of the console: which view a path shows, the state of the service in the header, and what happens while the
// service is away. A view is a module with `open(app, url)` that returns what it has of `update`, `redraw` and `close`.

import {ApiError, get, query} from "./api.js";
import * as cycle from "./cycle.js";
import * as cycles from "./cycles.js";
import {card, h, put} from "./dom.js";
import {count, duration, isUTC, setUTC, time, zoneName} from "./format.js";
import * as health from "./health.js";
import * as judge from "./judge.js";
import * as live from "./live.js";
import * as overview from "./overview.js";

const POLL_SECONDS = 10;
const views = [
  [/^\/$/, overview, "Overview"],
  [/^\/cycles\/?$/, cycles, "Cycles"],
  [/^\/cycles\/\d+$/, cycle, "Cycle"],
  [/^\/live\/?$/, live, "Live"],
  [/^\/judge\/?$/, judge, "Judge a log"],
  [/^\/health\/?$/, health, "Health"]
];
const ERRORS = {
  away: [
    "not connected",
    "The service does not answer. This page recovers by itself; if it does not, run systemctl status dnp-telemetry there."
  ],
  recovering: ["recovering", "The service reads its ledger after a start. This page goes on when it is ready."],
  busy: ["busy", "The service is busy. This page tries again by itself."],
  access: [
    "no access",
    "You may not read the console. Sign in as one of its users (console-users), and reload the page."
  ]
};

const [main, statusLine, banner, zone] = ["main", "status", "banner", "zone"].map(id => document.getElementById(id));
const closed = {view: {}, abort: new AbortController()};
let session = closed;
let overviewData = null;
let heardAt = null;
let failures = 0;
let timer = 0;

const app = {
  main,

  title(text) {
    document.title = `${text} · dnp-telemetry`;
  },

  /** Keeps filters in the address without opening the view again. */
  address(path, filters) {
    session.address = path + query(filters);
    if (session.address !== location.pathname + location.search) history.pushState({}, "", session.address);
  },

  /** Runs what asks the API. What fails because the service is away runs again when it is back. */
  async attempt(work, note) {
    const mine = session;
    try {
      await work(mine.abort.signal);
      mine.retries.delete(work);
      note?.replaceChildren();
    } catch (error) {
      if (error.name === "AbortError" || mine !== session) return;
      if (!(error instanceof ApiError)) throw error;
      const [, text] = ERRORS[error.kind] ?? [];
      note?.replaceChildren(h("p.note", {role: "alert"}, h("b", text ?? `${error.message}. `), !text && error.detail));
      if (!text) return;
      mine.retries.set(work, note);
      show(error);
    }
  }
};

function navigate(path) {
  history.pushState({}, "", path);
  open();
  scrollTo(0, 0);
  const heading = main.querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({preventScroll: true});
}

function open() {
  const url = new URL(location.href);
  session.abort.abort();
  session.view.close?.();
  session = {view: {}, retries: new Map(), abort: new AbortController(), address: url.pathname + url.search};
  for (const link of document.querySelectorAll("header nav a")) {
    const path = link.getAttribute("href");
    const isInside = path === "/" ? url.pathname === "/" : url.pathname.startsWith(path);
    if (isInside) link.setAttribute("aria-current", url.pathname === path ? "page" : "true");
    else link.removeAttribute("aria-current");
  }
  put(main);
  const [, module, name] = views.find(([path]) => path.test(url.pathname)) ?? [];
  app.title(name ?? "No such page");
  if (!module) return main.append(card("w12", "No such page", "", h("a", {href: "/"}, "Go to the overview")));
  session.view = module.open(app, url) ?? {};
  if (overviewData) session.view.update?.(overviewData);
}

/** Shows how the service stands, or why it did not answer. */
function show(error) {
  if (!error) {
    put(banner);
    put(statusLine, ...statusWords(overviewData.status ?? {}));
    return;
  }
  const [state, words] = ERRORS[error.kind] ?? ["error", `${error.message}. ${error.detail}`];
  const since = heardAt ? [" What you see is from ", time(heardAt), "."] : [];
  const text = h(`p.${error.kind === "busy" || error.kind === "recovering" ? "warn" : "bad"}`, words, since);
  // The banner speaks when it changes, so it changes only when there is news.
  if (banner.textContent !== text.textContent) put(banner, text);
  put(statusLine, h("span.dot.bad"), state);
}

function statusWords({accounts, journal = {}, ready, eventsLastMinute}) {
  const isBalanced = accounts === "balanced";
  const isBehind = journal.pending > 0 && journal.oldestSeconds > 60;
  const tone = isBalanced ? (isBehind || ready === false ? "warn" : "good") : "bad";
  const words = [
    journal.mode === "off" ? "journal off" : `journal ${count(journal.pending)} behind`,
    isBehind && `oldest ${duration(journal.oldestSeconds)}`,
    `${count(eventsLastMinute)} events/min`
  ];
  const link = h("a", {href: "/health"}, isBalanced ? "every event accounted for" : "events unaccounted for");
  return [h(`span.dot.${tone}`), link, ` · ${words.filter(Boolean).join(" · ")}`];
}

async function poll() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    overviewData = await get("/api/v1/overview");
    heardAt = new Date().toISOString();
    failures = 0;
    show();
    session.view.update?.(overviewData);
    for (const [work, note] of session.retries) app.attempt(work, note);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    failures += 1;
    show(error);
  }
  // A service that was killed is back within seconds: ask soon, then less often.
  const wait = failures > 0 ? Math.min(2 ** (failures - 1), POLL_SECONDS) : POLL_SECONDS;
  clearTimeout(timer);
  timer = setTimeout(poll, 1000 * wait * (0.9 + 0.2 * Math.random()));
}

function showZone() {
  zone.setAttribute("aria-checked", String(isUTC()));
  put(zone, h("span.knob"), "UTC", h("span.soft", isUTC() ? "everywhere" : zoneName()));
}

zone.addEventListener("click", () => {
  setUTC(!isUTC());
  showZone();
  session.view.redraw?.();
});

document.addEventListener("click", event => {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.hash || !views.some(([path]) => path.test(url.pathname))) return;
  event.preventDefault();
  navigate(url.pathname + url.search);
});

addEventListener("popstate", () => {
  if (location.pathname + location.search !== session.address) open();
});

// "/" goes to the filter of a view.
document.addEventListener("keydown", event => {
  if (event.target.closest?.("input, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.key === "/" && main.querySelector("[data-filter]");
  if (!field) return;
  event.preventDefault();
  field.closest("details")?.setAttribute("open", "");
  field.focus();
});

document.addEventListener("visibilitychange", poll);
document.getElementById("header").hidden = false;
showZone();
open();
poll();
