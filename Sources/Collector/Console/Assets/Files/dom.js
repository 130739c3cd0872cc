// SPDX-License-Identifier: Apache-2.0

// Builds pages out of elements and text nodes. What the API answers came from a phone or an upload, so no string is
// ever parsed as HTML, a link leads only to a path of this service, and what could hide or reorder text is made visible.

const SHOWN_CHARACTERS = 280;

// C0, DEL and C1, zero-width and bidi controls, line separators, tags, lone surrogates, and piles of combining marks.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
  /[\0-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}|(?<=\p{M}{3})\p{M}+/gu;

/** A text whose control and bidi characters can be seen. */
export function clean(text) {
  return String(text).replace(UNSEEN, found => {
    const code = found.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return /\p{M}/u.test(found) ? "…" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

function build(element, classes, children) {
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  const [first] = children;
  if (first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first)) {
    for (const [name, value] of Object.entries(children.shift())) setAttribute(element, name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child instanceof Node) element.append(child);
    else if (child !== undefined && child !== null && child !== false) element.append(clean(child));
  }
  return element;
}

function setAttribute(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name === "on") {
    for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    return;
  }
  if (/^on|^style$|^src/i.test(name)) throw new Error(`the attribute ${name} is not allowed`);
  if (name === "href" && !/^[/#](?!\/)/.test(value)) throw new Error("a link leads to a path of this service");
  element.setAttribute(name, value === true ? "" : clean(value));
}

/** An HTML element: `h("p.soft", {id: "a"}, "text", child)`. Attributes may be left out; `false` is no child. */
export function h(name, ...children) {
  const [tag, ...classes] = name.split(".");
  return build(document.createElement(tag), classes, children);
}

export function s(name, ...children) {
  const [tag, ...classes] = name.split(".");
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), classes, children);
}

/** Shows elements and texts in place of what an element holds. */
export function put(element, ...children) {
  element.replaceChildren();
  build(element, [], [[children]]);
}

/** A client's text, cut, with a direction of its own. */
export function short(text, characters = 60) {
  const all = [...String(text)];
  if (all.length <= characters) return h("bdi", text);
  return h("bdi", {title: all.slice(0, 400).join("")}, `${all.slice(0, characters).join("")}…`);
}

/** A client's text; a long one opens on demand. */
export function value(text) {
  const all = [...String(text ?? "")];
  if (all.length <= SHOWN_CHARACTERS) return h("bdi", text);
  const start = h("bdi", `${all.slice(0, SHOWN_CHARACTERS / 2).join("")}…`);
  return h("details.long", h("summary", start, h("span.soft", ` all ${all.length} characters`)), h("bdi", text));
}

export function button(name, click, attributes = {}, classes = "") {
  return h(`button${classes}`, {type: "button", on: {click}, ...attributes}, name);
}

/** A table that keeps its roles as blocks on a phone. A column is a name with its cells' classes, "count.num". */
export function table(caption, columns, rows, classes = "") {
  const cells = (tag, role, contents) =>
    contents.map((content, index) => h([tag, ...columns[index].split(".").slice(1)].join("."), {role}, content));
  const row = contents => h("tr", {role: "row"}, cells("td", "cell", contents));
  const headings = cells(
    "th",
    "columnheader",
    columns.map(column => column.split(".")[0])
  );
  return h(
    `table${classes}`,
    {role: "table"},
    h("caption.unseen", caption),
    h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, headings)),
    h(
      "tbody",
      {role: "rowgroup"},
      rows.map(each => (each instanceof Node ? each : row(each)))
    )
  );
}

/** A table of names and numbers without visible headings. */
export function facts(caption, rows) {
  return table(caption, ["what", "value.num"], rows.filter(Boolean), ".quiet");
}

export function titled(title, about, ...children) {
  return [h("h2", title), about && h("p.about", about), ...children];
}

export function card(width, title, about, ...children) {
  return h(`section.${width}`, titled(title, about, ...children));
}

/** Replaces what a place shows, unless it shows the same already. Focus and what was opened stay where they were. */
export function refill(place, signature, builder) {
  const text = JSON.stringify(signature);
  if (place.shown === text) return;
  place.shown = text;
  const list = selector => [...place.querySelectorAll(selector)];
  const controls = "a[href], button, summary, input";
  const focus = list(controls).indexOf(document.activeElement);
  const open = list("details").map(details => details.open);
  place.replaceChildren(...[builder()].flat(Infinity).filter(child => child instanceof Node));
  list("details").forEach((details, index) => {
    details.open = open[index] ?? details.open;
  });
  if (focus >= 0) list(controls)[focus]?.focus({preventScroll: true});
}
