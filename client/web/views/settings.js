/** What may be set for this browser. */

import { LANGUAGES, t } from "../texts/texts.js";
import { field, h, heading, select } from "./parts.js";

const CHOICES = { theme: ["auto", "light", "dark"], motion: ["auto", "less"] };
const SWITCHES = ["fourColours", "tapMoves", "stuckInEightOff"];

/**
 * @param {object} context of the view
 * @returns {{title: string, element: HTMLElement}}
 */
export function show({ settings }) {
  const title = t("settings.title");
  const choices = Object.entries(CHOICES).map(([name, values]) =>
    choice(settings, name, values.map((value) => [value, t(`settings.${name}.${value}`)])));
  const element = h("section", { class: "settings" }, heading(title),
    h("div", { class: "panel" }, choices, SWITCHES.map((name) => aSwitch(settings, name)),
      choice(settings, "language", Object.entries(LANGUAGES)),
      h("p", { class: "hint" }, t("settings.kept"))));
  return { title, element };
}

function choice(settings, name, options) {
  const onchange = (event) => settings.set(name, event.target.value);
  return field(t(`settings.${name}`), select(options, settings.get(name), { onchange }));
}

function aSwitch(settings, name) {
  const onchange = (event) => settings.set(name, event.target.checked);
  const id = `hint-${name}`;
  const input = h("input", { type: "checkbox", checked: settings.get(name), onchange,
    "aria-describedby": id });
  return h("div", { class: "switch" },
    h("label", { class: "check" }, input, t(`settings.${name}`)),
    h("p", { class: "hint", id }, t(`settings.${name}-hint`)));
}
