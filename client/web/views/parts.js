/** Small pieces that several views are made of. Text only ever becomes a text node. */

import { hasText, language, plural, t } from "../texts/texts.js";

/**
 * Builds an element.
 * @param {string} tag its name
 * @param {object|null} props attributes; `on…` functions are listeners, `value`, `checked`,
 *   `disabled`, `hidden` and `open` are properties; null and false are left out
 * @param {...(Node|string|number|null|false|Array)} children
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) give(element, name, value);
  element.append(...children.flat(Infinity).filter(isChild).map(asNode));
  return element;
}

const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "open", "selected"]);

function give(element, name, value) {
  if (PROPERTIES.has(name)) {
    if (value !== undefined) element[name] = value;
  } else if (name.startsWith("on")) {
    element.addEventListener(name.slice(2), value);
  } else if (value !== null && value !== undefined && value !== false) {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

function isChild(child) {
  return child !== null && child !== undefined && child !== false && child !== "";
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/**
 * @param {string} words on it
 * @param {(event: Event) => void} onclick
 * @param {object} [props] as in `h`
 * @returns {HTMLButtonElement}
 */
export function button(words, onclick, props = {}) {
  return h("button", { type: "button", onclick, ...props }, words);
}

/**
 * @param {string} hash where it leads, as `#/today`
 * @param {string} words on it
 * @param {object} [props] as in `h`
 * @returns {HTMLAnchorElement}
 */
export function link(hash, words, props = {}) {
  return h("a", { href: hash, ...props }, words);
}

/**
 * @param {string} words the heading, which has the focus when the view is shown
 * @param {...*} rest what stands beside it
 * @returns {HTMLElement}
 */
export function heading(words, ...rest) {
  return h("div", { class: "heading" }, h("h1", { tabindex: "-1" }, words), ...rest);
}

let fields = 0;

/**
 * @param {string} label
 * @param {HTMLElement} control an input, select or textarea; gets an id
 * @param {string} [hint] said below it
 * @returns {HTMLElement} both, with a place for an error: `.error`
 */
export function field(label, control, hint) {
  fields += 1;
  control.id ||= `field-${fields}`;
  const error = h("p", { class: "error", id: `${control.id}-error`, role: "alert" });
  const says = hint ? h("p", { class: "hint", id: `${control.id}-hint` }, hint) : null;
  control.setAttribute("aria-describedby", `${says ? `${says.id} ` : ""}${error.id}`);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, says, error);
}

/**
 * Says below a field what is wrong with it.
 * @param {HTMLElement} element made by `field`
 * @param {string} words empty: nothing is
 */
export function say(element, words) {
  element.querySelector(".error").textContent = words;
  const control = element.querySelector("input, select, textarea");
  control.setAttribute("aria-invalid", String(words !== ""));
  if (words) control.focus();
}

/**
 * @param {Array<[value: string, words: string]>} options
 * @param {string} value the chosen one
 * @param {object} [props] as in `h`
 * @returns {HTMLSelectElement}
 */
export function select(options, value, props = {}) {
  const element = h("select", props, options.map(([name, words]) =>
    h("option", { value: name }, words)));
  element.value = value;
  return element;
}

/**
 * @param {number} ms a length of time
 * @param {boolean} [exact] with tenths
 * @returns {string} as `3:01` or `1:02:03`
 */
export function duration(ms, exact = false) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const pad = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const head = hours ? `${hours}:${pad(minutes)}` : String(minutes);
  const tail = exact ? `.${Math.floor((Math.max(0, ms) % 1000) / 100)}` : "";
  return `${head}:${pad(seconds % 60)}${tail}`;
}

/**
 * @param {string} day as `2026-12-01`
 * @returns {string} in words, with the weekday
 */
export function dayWords(day) {
  const form = { weekday: "long", day: "numeric", month: "long", year: "numeric" };
  const date = new Date(`${day}T00:00:00Z`);
  return new Intl.DateTimeFormat(language(), { ...form, timeZone: "UTC" }).format(date);
}

/**
 * @param {number} ms epoch milliseconds
 * @returns {string} day and time where the reader is
 */
export function momentWords(ms) {
  const form = { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(language(), form).format(new Date(ms));
}

/**
 * @param {number} ms epoch milliseconds
 * @returns {string} its day in UTC, as `2026-12-01`
 */
export function dayOf(ms) {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * @param {string} day
 * @param {number} days how many later
 * @returns {string}
 */
export function dayAfter(day, days) {
  return dayOf(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000);
}

/**
 * @param {string} name of a ruleset
 * @returns {string} what it is called
 */
export function rulesetWords(name) {
  return hasText(`ruleset.${name}`) ? t(`ruleset.${name}`) : name;
}

/**
 * @param {Error} error mostly a WireError
 * @returns {string} what it means
 */
export function errorWords(error) {
  const { code, context = {} } = error;
  if (code === "illegal-move") return reasonWords(context);
  const key = `error.${code}`;
  const why = context.why ?? "";
  return hasText(key) ? t(key, { why, status: context.status ?? "" }) : t("error.other");
}

/**
 * @param {{reason?: string, limit?: number, length?: number}} refusal
 * @returns {string} why a move was refused
 */
export function reasonWords({ reason, limit, length }) {
  const key = `reason.${reason}`;
  return hasText(key) ? t(key, { limit: limit ?? "", length: length ?? "" }) : t("reason.other");
}

/**
 * Says something in passing, to everybody's eyes and ears.
 * @param {string} words
 */
export function note(words) {
  const element = h("p", { class: "note" }, words);
  document.getElementById("notes").append(element);
  setTimeout(() => element.remove(), 6000);
}

/**
 * Runs what a button asks for: it is disabled meanwhile, and a refusal is said in words.
 * @param {HTMLButtonElement|null} pressed
 * @param {() => Promise<void>} act
 */
export async function attempt(pressed, act) {
  if (pressed) pressed.disabled = true;
  try {
    await act();
  } catch (error) {
    if (!error?.code) throw error;
    note(errorWords(error));
  } finally {
    if (pressed) pressed.disabled = false;
  }
}

/**
 * Asks a question in a dialog.
 * @param {{title: string, text: string, yes: string, danger?: boolean}} question
 * @returns {Promise<boolean>} whether it was answered with yes
 */
export function ask({ title, text, yes, danger = false }) {
  const id = `dialog-${(fields += 1)}`;
  const dialog = h("dialog", { "aria-labelledby": id },
    h("h2", { id }, title), h("p", null, text),
    h("div", { class: "buttons" },
      button(t("button.cancel"), () => dialog.close("no")),
      button(yes, () => dialog.close("yes"), { class: danger ? "danger" : "primary" })));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}

/**
 * @param {string} words what is copied
 * @param {string} label on the button
 * @returns {HTMLButtonElement}
 */
export function copyButton(words, label) {
  return button(label, async () => {
    try {
      await navigator.clipboard.writeText(words);
      note(t("copy.done"));
    } catch {
      note(t("copy.failed"));
    }
  });
}

/**
 * Calls `act` now and again and again until the view is left.
 * @param {AbortSignal} signal of the view
 * @param {number} ms between two calls
 * @param {() => void} act
 */
export function every(signal, ms, act) {
  if (signal.aborted) return;
  act();
  const timer = setInterval(act, ms);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/**
 * @param {object} row of a board
 * @returns {string} how that run went
 */
export function runWords(row) {
  const time = duration(row.elapsed_ms);
  const values = { time, home: row.home, moves: plural("moves", row.moves) };
  return t(row.won ? "run.won" : "run.lost", values);
}
