// SPDX-License-Identifier: Apache-2.0

// The client of the service's API: JSON with ETags, and one error that says in words what is wrong.

const REMEMBERED_ANSWERS = 16;
const KINDS = {401: "access", 403: "access", 404: "missing", 429: "busy", 503: "busy"};
const answers = new Map();

/** Why a request failed. `kind` is `away`, `access`, `recovering`, `busy`, `missing`, or `refused` for all else. */
export class ApiError extends Error {
  constructor(kind, title, detail = "", status = 0, retryAfter = 0) {
    super(title);
    Object.assign(this, {kind, status, detail, retryAfter});
  }
}

async function problem(response) {
  const {status, headers} = response;
  let told = {};
  try {
    told = await response.json();
  } catch {
    // The status says enough.
  }
  const kind = /recover|starting/i.test(`${told.type} ${told.title}`) ? "recovering" : (KINDS[status] ?? "refused");
  const title = told.title ?? `The service answered ${status}`;
  return new ApiError(kind, String(title), String(told.detail ?? ""), status, Number(headers.get("Retry-After")) || 0);
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, {credentials: "same-origin", redirect: "error", cache: "no-store", ...options});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("away", "The service does not answer");
  }
  if (!response.ok && response.status !== 304) throw await problem(response);
  return response;
}

/** The answer to a GET. An answer that has not changed is the same object as before. */
export async function get(path, signal) {
  const known = answers.get(path);
  const headers = {Accept: "application/json", ...(known && {"If-None-Match": known.tag})};
  const response = await request(path, {headers, signal});
  if (response.status === 304 && known) return known.data;
  let data;
  try {
    data = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("away", "The answer was cut short");
  }
  const tag = response.headers.get("ETag");
  answers.delete(path);
  if (tag) answers.set(path, {tag, data});
  if (answers.size > REMEMBERED_ANSWERS) answers.delete(answers.keys().next().value);
  return data;
}

/** The response to a POST. */
export function post(path, body, headers) {
  return request(path, {method: "POST", body, headers});
}

/** A query of parameters, of which several values repeat the name and empty ones are left out. */
export function query(parameters) {
  const search = new URLSearchParams();
  for (const [name, given] of Object.entries(parameters)) {
    for (const each of [given].flat()) if (each) search.append(name, each);
  }
  return search.size > 0 ? `?${search}` : "";
}
