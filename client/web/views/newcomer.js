/** The one step from guest to player: a field with a suggestion, where games are started. */

import { t } from "../texts/texts.js";
import { errorWords, field, h, link, say } from "./parts.js";

const UNKEPT = "cellmates.token.unkept";
const LETTERS = "abcdefghjkmnpqrstvwxyz23456789";

/** @returns {string} a handle that probably nobody has */
export function suggestion() {
  const numbers = crypto.getRandomValues(new Uint8Array(6));
  return `guest-${[...numbers].map((n) => LETTERS[n % LETTERS.length]).join("")}`;
}

/** @returns {boolean} whether the player has not said yet that the new token is kept */
export function isTokenUnkept() {
  return localStorage.getItem(UNKEPT) !== null;
}

/** @param {boolean} unkept whether the player still has to keep the token somewhere */
export function markToken(unkept) {
  if (unkept) localStorage.setItem(UNKEPT, "1");
  else localStorage.removeItem(UNKEPT);
}

/**
 * A field for the handle, which is hidden for players.
 * @param {Wire} wire
 * @param {AbortSignal} signal of the view
 * @returns {{element: HTMLElement, ensure: () => Promise<boolean>}} `ensure` makes the guest a
 *   player where need be, and says whether there is one now; a refusal is said at the field
 */
export function newcomer(wire, signal) {
  const suggested = suggestion();
  const input = h("input", {
    value: suggested, minlength: 3, maxlength: 20, autocomplete: "username", spellcheck: "false",
    autocapitalize: "none",
  });
  const asked = field(t("newcomer.label"), input, t("newcomer.hint"));
  const element = h("div", { class: "newcomer" }, asked, keepToken());
  const showFor = () => {
    asked.hidden = wire.player !== null || wire.greeting === null;
    element.querySelector(".keep").hidden = wire.player === null || !isTokenUnkept();
  };
  wire.addEventListener("player", showFor, { signal });
  wire.addEventListener("state", showFor, { signal });
  showFor();
  return { element, ensure: () => ensure(wire, input, asked, suggested) };
}

function keepToken() {
  return h("p", { class: "keep" }, t("newcomer.keep"), " ", link("#/me", t("newcomer.keep-link")));
}

async function ensure(wire, input, asked, suggested) {
  if (wire.player) return true;
  say(asked, "");
  try {
    await wire.create(input.value.trim());
    markToken(true);
    return true;
  } catch (error) {
    if (!error?.code) throw error;
    if (error.code === "handle-taken" && input.value === suggested) input.value = suggestion();
    say(asked, errorWords(error));
    return false;
  }
}
