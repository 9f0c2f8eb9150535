/** The page's frame: header, connection banner, and the view that the address asks for. */

import { settings } from "./settings.js";
import { LANGUAGES, setLanguage, t } from "./texts/texts.js";
import { button, h, link } from "./views/parts.js";
import * as today from "./views/today.js";
import { Wire } from "./wire.js";

const VIEWS = {
  today: async () => today,
  game: () => import("./views/game.js"),
  board: () => import("./views/board.js"),
  replay: () => import("./views/replay.js"),
  practice: () => import("./views/practice.js"),
  player: () => import("./views/player.js"),
  me: () => import("./views/me.js"),
  rules: () => import("./views/howto.js"),
  settings: () => import("./views/settings.js"),
};
const NAV = ["today", "practice", "rules", "me", "settings"];

const wire = new Wire({});
let leaving = new AbortController();

/** @returns {{name: string, params: string[]}} the view that the address names */
function route() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(readable).filter(Boolean);
  const [name = "today", ...params] = parts;
  return name in VIEWS ? { name, params } : { name: "today", params: [] };
}

function readable(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function go(hash) {
  if (location.hash === hash) showView();
  else location.hash = hash;
}

async function showView({ first = false } = {}) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const { name, params } = route();
  markNav(name);
  const view = await VIEWS[name]().catch(() => null);
  if (signal.aborted) return;
  const context = { wire, settings, params, signal, go, setTitle };
  const { title, element } = view ? view.show(context) : notLoaded();
  document.getElementById("main").replaceChildren(element);
  setTitle(title);
  window.scrollTo(0, 0);
  if (!first) element.querySelector("h1")?.focus({ preventScroll: true });
}

function notLoaded() {
  const title = t("view.failed");
  const again = button(t("button.again"), () => location.reload());
  return { title, element: h("section", null, h("h1", { tabindex: "-1" }, title), again) };
}

function setTitle(title) {
  document.title = t("title", { view: title });
}

function showHeader() {
  document.getElementById("skip").textContent = t("skip");
  const items = NAV.map((name) =>
    h("li", null, link(`#/${name}`, t(`nav.${name}`), { "data-view": name })));
  document.getElementById("top").replaceChildren(
    link("#/today", t("name"), { class: "name" }),
    h("nav", { "aria-label": t("nav.label") }, h("ul", null, items)),
    h("p", { class: "who" }));
  showPlayer();
}

function showPlayer() {
  document.querySelector(".who").textContent =
    wire.state === "closed" ? "" : wire.player?.handle ?? "";
}

const ABOVE = { replay: "today", board: "today", game: "today", player: "today" };

function markNav(name) {
  for (const anchor of document.querySelectorAll("[data-view]")) {
    const view = anchor.dataset.view;
    anchor.removeAttribute("aria-current");
    if (view === name) anchor.setAttribute("aria-current", "page");
    else if (view === ABOVE[name]) anchor.setAttribute("aria-current", "true");
  }
}

let shownState = "connecting";

function showConnection() {
  const { state } = wire;
  const banner = document.getElementById("banner");
  banner.replaceChildren(...connectionWords());
  banner.hidden = state === "up" || (state === "connecting" && wire.greeting === null);
  banner.dataset.state = state;
  showPlayer();
  if (state === "up" && shownState === "closed") showView({ first: true });
  if (state === "up" || state === "closed") shownState = state;
}

function connectionWords() {
  if (wire.state === "up") return [];
  if (wire.state !== "closed") return [t(`wire.${wire.state}`)];
  const again = button(t("button.again"), () => location.reload());
  if (wire.reason !== "bad-token") return [t("wire.ended"), again];
  const asGuest = button(t("wire.as-guest"), () => wire.becomeGuest());
  return [t("wire.closed"), link("#/me", t("wire.sign-in")), asGuest];
}

function applySettings() {
  const root = document.documentElement;
  const theme = settings.get("theme");
  const dark = theme === "dark" || (theme === "auto" && darkQuery.matches);
  root.dataset.theme = dark ? "dark" : "light";
  root.dataset.deck = settings.get("fourColours") ? "four" : "two";
  root.dataset.motion = settings.get("motion");
}

const darkQuery = matchMedia("(prefers-color-scheme: dark)");

async function changed({ detail }) {
  applySettings();
  if (detail.name === "language") await speak();
}

async function speak() {
  const chosen = settings.get("language");
  if (chosen in LANGUAGES) await setLanguage(chosen);
  document.documentElement.lang = chosen in LANGUAGES ? chosen : "en";
  showHeader();
  await showView({ first: true });
}

function skipToMain(event) {
  event.preventDefault(); // the address is the router's
  document.getElementById("main").focus();
}

applySettings();
darkQuery.addEventListener("change", applySettings);
settings.addEventListener("change", changed);
document.getElementById("skip").addEventListener("click", skipToMain);
window.addEventListener("hashchange", () => showView());
wire.addEventListener("state", showConnection);
wire.addEventListener("player", showPlayer);
wire.start();
await speak();
showConnection();
