// SPDX-License-Identifier: Apache-2.0

// Filters that live in the address: menus of several choices, fields, and chips that say what is chosen.

import {button, h, short} from "./dom.js";

export function chosen(search, names) {
  const given = new URLSearchParams(search);
  return Object.fromEntries(names.map(name => [name, given.getAll(name).filter(Boolean)]));
}

/** A menu of check boxes, of which several may be chosen. `options` are `[value, text, group]`. */
export function menu(title, options, change) {
  const boxes = new Map();
  const number = h("b");
  const summary = h("summary", title, number);
  const list = h("fieldset");
  const details = h("details.menu", summary, list);
  const values = () => [...boxes].filter(([, box]) => box.checked).map(([value]) => value);
  const show = () => {
    number.textContent = values().length > 0 ? ` ${values().length}` : "";
  };
  const fill = (entries, selected = values()) => {
    boxes.clear();
    let group;
    list.replaceChildren(h("legend.unseen", title));
    for (const [value, text, heading] of entries) {
      const box = h("input", {type: "checkbox", checked: selected.includes(value)});
      box.addEventListener("change", () => {
        show();
        change(values());
      });
      boxes.set(value, box);
      if (heading && heading !== group) list.append(h("p.small.soft", heading));
      group = heading;
      list.append(h("label", box, short(text, 48)));
    }
    if (entries.length === 0) list.append(h("p.small.soft", "nothing to choose from yet"));
    show();
  };
  fill(options);
  details.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !details.open) return;
    details.open = false;
    summary.focus();
  });
  const set = selected => {
    for (const [value, box] of boxes) box.checked = selected.includes(value);
    show();
  };
  return {element: details, fill, set};
}

// A menu closes when something outside of it is clicked or focused. A click on the text of a choice focuses what the menu
// stands in, which is not outside.
for (const kind of ["pointerdown", "focusin"]) {
  document.addEventListener(kind, ({target}) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = menu.contains(target) || (kind === "focusin" && target.contains(menu));
    }
  });
}

function field(title, change, attributes, write = value => value) {
  const input = h("input", {type: "text", spellcheck: "false", ...attributes});
  let told = "";
  input.addEventListener("change", () => {
    const value = input.value.trim();
    if (value !== told) change(value);
  });
  const set = value => {
    told = write(value);
    input.value = told;
  };
  return {element: h("label.field", h("span", title), input), set};
}

/** The chips, menus and fields of a view. `apply` hears of each change; `text(name, value)` is what a chip says. */
export function filterBar(app, path, names, text, apply) {
  const bar = {values: chosen(location.search, names), menus: {}, fields: {}};
  const list = h("div.chips", {role: "group", "aria-label": "Filters in force"});
  bar.set = changes => {
    bar.values = {...bar.values, ...changes};
    app.address(path, bar.values);
    bar.show();
    apply();
  };
  bar.clear = () => bar.set(chosen("", names));
  bar.without = (name, value) => bar.set({[name]: bar.values[name].filter(each => each !== value)});
  bar.menu = (name, title, options) => {
    bar.menus[name] = menu(title, options, values => bar.set({[name]: values}));
  };
  bar.fill = (name, options) => bar.menus[name].fill(options, bar.values[name]);
  bar.field = (name, title, attributes, read = value => value, write = undefined) => {
    const change = value => bar.set({[name]: [read(value)].filter(Boolean)});
    bar.fields[name] = field(title, change, attributes, write);
  };
  bar.chosen = () => names.flatMap(name => bar.values[name].map(value => [name, value]));
  bar.show = () => {
    for (const [name, each] of Object.entries(bar.menus)) each.set(bar.values[name]);
    for (const [name, each] of Object.entries(bar.fields)) each.set(bar.values[name][0] ?? "");
    const chips = bar.chosen().map(([name, value]) => {
      const words = [
        h("span.unseen", "Remove the filter "),
        text(name, value),
        h("span", {"aria-hidden": "true"}, " ×")
      ];
      return button(words, () => bar.without(name, value), {}, ".chip");
    });
    if (chips.length > 1) chips.push(button("Remove all filters", bar.clear, {}, ".chip"));
    list.replaceChildren(...chips);
  };
  bar.element = (...more) => {
    const elements = controls => Object.values(controls).map(each => each.element);
    const controls = h("div.row", elements(bar.menus), elements(bar.fields));
    return [h("details.filters", {open: innerWidth > 700}, h("summary", "Filters"), controls, more), list];
  };
  return bar;
}
