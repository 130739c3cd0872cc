// SPDX-License-Identifier: Apache-2.0

// How the service itself is: do its accounts add up, how full are its limits, what was rejected and what to do.

import {get} from "./api.js";
import {card, facts, h, refill, short, table, value} from "./dom.js";
import {bytes, count, counted, duration, share, time} from "./format.js";
import {mark} from "./parts.js";
import {bar} from "./plots.js";

const REFRESH_SECONDS = 10;

export function open(app) {
  const note = h("div");
  const lead = h("div", h("p.none", "Asking the service."));
  const content = h("div.contents");
  app.main.append(h("section.w12", h("h1", "Health"), lead, note), content);
  const load = () =>
    app.attempt(async signal => {
      const data = await get("/api/v1/health", signal);
      refill(lead, [data.warnings, data.accounts, data.ready, data.version], () => summary(data));
      refill(content, data, () => cards(data));
    }, note);
  load();
  const timer = setInterval(() => document.hidden || load(), REFRESH_SECONDS * 1000);
  return {close: () => clearInterval(timer)};
}

function summary({accounts = [], warnings = [], ready, version, startedAt}) {
  const wrong = accounts.filter(account => !account.balanced).length;
  const state =
    ready === false
      ? ["warn", "The service is stopping"]
      : [warnings.length > 0 ? "warn" : "good", "Every event is accounted for"];
  const [tone, text] = wrong > 0 ? ["bad", `${counted(wrong, "account")} out of balance`] : state;
  return [
    h("p.big", h(`span.dot.${tone}`), text),
    h("p.about", "Version ", short(version ?? "-", 40), ", started ", time(startedAt, "full")),
    ...warnings.map(each => h("div.hint.warn", h("p", h("b", value(each.title))), h("p", value(each.detail))))
  ];
}

// Where each event goes besides the ledger.
const JOURNAL = {
  journald: "Each event as an entry of systemd-journald.",
  stdout: "Each event as a line on standard output.",
  off: "Events are in the ledger alone: the setting journal is off."
};

function cards({
  ledger = {},
  journal = {},
  accounts = [],
  sources = [],
  limits = [],
  exports: destinations = [],
  rejections = [],
  configuration = []
}) {
  const known = number => bytes(number ?? Number.NaN);
  const ledgerFacts = [
    ["id", h("code", short(ledger.id ?? "-", 40))],
    ["events", count(ledger.events)],
    ["batches", count(ledger.batches)],
    ["last number", count(ledger.sequence)],
    ["size", known(ledger.bytes)],
    ["free on its disk", known(ledger.availableBytes)],
    ["until it refuses", known(ledger.roomBytes)],
    ["acknowledged events survive", ledger.durability === "power" ? "a loss of power" : "a kill of the service"],
    ["retention", ledger.retentionSeconds > 0 ? duration(ledger.retentionSeconds) : "until journaled"]
  ];
  const journalFacts = [
    ["confirmed", count(journal.confirmed)],
    ["waiting", count(journal.pending)],
    ["oldest waiting", duration(journal.oldestSeconds ?? 0)],
    ["skipped", count(journal.skipped)]
  ];
  const received = sources.map(each => [short(each.source, 40), short(each.format, 30), count(each.received)]);
  const sent = destinations.map(each => [
    short(each.destination, 40),
    short(each.signal, 20),
    h("code", short(each.address, 80)),
    mark(each.complaint ? "failed" : "reached", each.complaint ? "does not take all" : "takes all"),
    each.pending === null ? "-" : count(each.pending),
    value(each.complaint ?? "")
  ]);
  const refused = rejections
    .filter(each => each.count > 0)
    .sort((a, b) => b.count - a.count)
    .map(each => [h("code", short(each.reason)), count(each.count), value(each.todo)]);
  const settings = isDefault =>
    configuration
      .filter(each => (each.source === "default") === isDefault)
      .map(each => [h("code", short(each.name)), h("code", value(each.value)), short(each.source, 30)]);
  const list = (rows, caption, columns, classes = ".quiet") =>
    rows.length > 0 ? table(caption, columns, rows, classes) : h("p.none", "None.");
  const setting = ["setting", "value", "from"];
  const balance = "Both sides of each are counted on their own. Where they differ, events were lost or counted twice.";
  return [
    card("w6", "Accounts", balance, h("ul.list", accounts.map(accountItem))),
    card(
      "w6",
      "Limits",
      "At a limit the service refuses or evicts; it does not grow.",
      h("ul.list", limits.map(limitItem))
    ),
    card("w4", "Ledger", "The durable record of accepted events.", facts("Ledger", ledgerFacts)),
    card("w4", "Journal", JOURNAL[journal.mode], journal.mode !== "off" && facts("Journal", journalFacts)),
    card(
      "w4",
      "Sources",
      "Where events came from. Verdicts are the collector's own.",
      list(received, "Sources", ["source", "format", "received.num"])
    ),
    destinations.length > 0 &&
      card(
        "w12",
        "Destinations",
        "Where metrics and events are sent. Events that a destination lacks wait in the ledger.",
        list(sent, "Destinations", ["destination", "signal", "address", "state", "waiting.num", "says"], ".events")
      ),
    card(
      "w12",
      "Rejections",
      "Events that were refused one by one, and what to do about each reason.",
      list(refused, "Rejections by reason", ["reason", "events.num", "what to do"], ".events")
    ),
    card(
      "w12",
      "Configuration in force",
      "Options beat the environment, which beats the file, which beats the defaults. Secrets are not shown.",
      list(settings(false), "Settings that were set", setting, ".events"),
      h(
        "details.numbers",
        h("summary", "Defaults"),
        list(settings(true), "Settings at their defaults", setting, ".events")
      )
    )
  ];
}

function accountItem({name, left, right, balanced}) {
  const sides = `${count(left)} ${balanced ? "=" : "≠"} ${count(right)}`;
  const apart = !balanced && h("b.bad", ` ${count(Math.abs(left - right))} apart`);
  const state = mark(balanced ? "reached" : "failed", balanced ? "balanced" : "not balanced");
  return h("li.account", state, h("div", h("p", value(name)), h("p.soft.small", sides, apart)));
}

function limitItem({name, used, limit, unit}) {
  const part = limit > 0 ? used / limit : 0;
  const tone = part >= 0.95 ? "bad" : part >= 0.8 ? "warn" : "accent";
  const size = unit === "bytes" ? `${bytes(used)} of ${bytes(limit)}` : `${count(used)} of ${count(limit)} ${unit}`;
  return h("li", h("p.between", short(name), h("span.soft", `${size}, ${share(used, limit)}`)), bar(part, tone));
}
