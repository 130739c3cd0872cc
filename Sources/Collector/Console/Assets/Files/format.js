// SPDX-License-Identifier: Apache-2.0

// Numbers, durations and times as people read them. One switch decides whether every time on the page is local or UTC.

import {h} from "./dom.js";

const numbers = new Intl.NumberFormat("en");
const STORED = "dnp-telemetry.utc";

export function count(number) {
  return Number.isFinite(number) ? numbers.format(number) : "-";
}

export function counted(number, one) {
  return `${count(number)} ${one}${number === 1 ? "" : "s"}`;
}

/** 95.4 %. A part is never rounded to all or nothing. */
export function share(part, whole) {
  if (!(whole > 0)) return "-";
  const percent = (100 * part) / whole;
  if (part > 0 && percent < 0.05) return "< 0.1 %";
  return part < whole && percent >= 99.95 ? "> 99.9 %" : `${percent.toFixed(1)} %`;
}

export function bytes(number) {
  if (!Number.isFinite(number)) return "-";
  const unit = Math.min(4, Math.floor(Math.log2(Math.max(1, number)) / 10));
  return unit === 0 ? counted(number, "byte") : `${(number / 1024 ** unit).toFixed(1)} ${" KMGT"[unit]}iB`;
}

/** "1 h 30 min": two units at most. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "-";
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? "−" : "";
  if (size === 0) return "0 s";
  if (size < 0.9995) return `${sign}${Math.round(size * 1000)} ms`;
  if (size < 59.95) return `${sign}${Number(size.toFixed(1))} s`;
  const units = Object.entries({d: 86400, h: 3600, min: 60, s: 1});
  let left = Math.round(size);
  const first = units.findIndex(([, length]) => left >= length);
  const parts = units.slice(first, first + 2).map(([unit, length]) => {
    const amount = Math.floor(left / length);
    left %= length;
    return amount > 0 ? `${amount} ${unit}` : "";
  });
  return sign + parts.join(" ").trim();
}

export function difference(seconds) {
  return seconds > 0 ? `+${duration(seconds)}` : duration(seconds);
}

/** Seconds since 1970 of an RFC 3339 time, or NaN. */
export function instant(text) {
  return typeof text === "string" ? Date.parse(text) / 1000 : Number.NaN;
}

let utc = false;
try {
  utc = localStorage.getItem(STORED) === "true";
} catch {
  // Without storage the switch holds for this page alone.
}

export function isUTC() {
  return utc;
}

/** Shows every time on the page in the other zone. Who draws plots draws them again. */
export function setUTC(on) {
  utc = on;
  try {
    localStorage.setItem(STORED, String(on));
  } catch {
    // As above.
  }
  for (const element of document.querySelectorAll("time[data-style]")) {
    element.textContent = timeText(instant(element.dateTime), element.dataset.style);
  }
}

export function zoneName() {
  if (utc) return "UTC";
  const minutes = -new Date().getTimezoneOffset();
  const rest = Math.abs(minutes) % 60;
  const hours = `${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}`;
  return `local time (UTC${minutes === 0 ? "" : hours}${rest ? `:${rest}` : ""})`;
}

function fields(seconds, inUTC) {
  const offset = inUTC ? 0 : new Date(seconds * 1000).getTimezoneOffset() * 60;
  return new Date((seconds - offset) * 1000).toISOString();
}

/** A time as text: `clock` 06:53:00, with the day unless that is today; `minute` 06:53; `full` with milliseconds. */
export function timeText(seconds, style = "clock", inUTC = utc) {
  if (!(Math.abs(seconds) < 8e12)) return "-";
  const text = fields(seconds, inUTC);
  const day = text.slice(0, 10);
  if (style === "minute") return text.slice(11, 16);
  if (style === "full") return `${day} ${text.slice(11, seconds % 1 === 0 ? 19 : 23)}`;
  return day === fields(Date.now() / 1000, inUTC).slice(0, 10) ? text.slice(11, 19) : `${day} ${text.slice(11, 19)}`;
}

export function time(text, style = "clock") {
  const seconds = instant(text);
  if (!Number.isFinite(seconds)) return h("span.soft", "no time");
  const attributes = {datetime: fields(seconds, true), title: `${timeText(seconds, "full", true)} UTC`};
  return h("time", {...attributes, "data-style": style}, timeText(seconds, style));
}

export function toField(text) {
  const seconds = instant(text);
  return Number.isFinite(seconds) ? fields(seconds, utc).slice(0, 16) : "";
}

export function fromField(field) {
  const date = new Date(utc && field ? `${field}Z` : field);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().replace(".000", "");
}
