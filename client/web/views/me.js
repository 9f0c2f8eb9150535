/** Who I am here: a name in one step, the token, and how to change or end all that. */

import { t } from "../texts/texts.js";
import { isTokenUnkept, markToken, suggestion } from "./newcomer.js";
import {
  ask, attempt, button, copyButton, errorWords, field, h, heading, link, note, say,
} from "./parts.js";

/**
 * @param {object} context of the view
 * @returns {{title: string, element: HTMLElement}}
 */
export function show(context) {
  const title = t("me.title");
  const body = h("div");
  const element = h("section", { class: "me" }, heading(title), body);
  const fill = () => {
    const hadFocus = body.contains(document.activeElement);
    body.replaceChildren(...partsFor(context, fill));
    if (hadFocus) element.querySelector("h1").focus();
  };
  context.wire.addEventListener("player", fill, { signal: context.signal });
  let greeted = context.wire.greeting !== null;
  context.wire.addEventListener("state", () => {
    if (context.wire.state === "closed" || (context.wire.state === "up" && !greeted)) fill();
    greeted ||= context.wire.state === "up";
  }, { signal: context.signal });
  fill();
  return { title, element };
}

function partsFor(context, fill) {
  const { wire } = context;
  if (wire.state === "closed") return [signingIn(wire)];
  if (wire.greeting === null) return [h("p", null, t("loading"))];
  if (wire.player === null) return [h("p", null, t("me.guest")), creating(wire), signingIn(wire)];
  return [
    h("p", null, t("me.hello", { handle: wire.player.handle }), " ",
      link(`#/player/${wire.player.handle}`, t("me.stats"))),
    isTokenUnkept() && wire.token ? tokenShown(wire, fill) : null,
    renaming(wire), rotating(wire, fill), signingOut(wire), deleting(wire),
  ].filter(Boolean);
}

/** A form of one field; what the server refuses is said at the field. */
function oneField({ title, before, text, label, hint, input, words, danger, act }) {
  const asked = field(label, input, hint);
  const submit = h("button", { class: danger ? "danger" : "primary" }, words);
  const onsubmit = async (event) => {
    event.preventDefault();
    say(asked, "");
    submit.disabled = true;
    try {
      await act(input.value.trim());
    } catch (error) {
      if (!error?.code) throw error;
      say(asked, errorWords(error));
    } finally {
      submit.disabled = false;
    }
  };
  return h("form", { class: "panel", onsubmit }, title && h("h2", null, title),
    text && h("p", null, text), before, asked, submit);
}

function handleInput(value) {
  return h("input", { value, required: true, minlength: 3, maxlength: 20,
    autocomplete: "username", spellcheck: "false", autocapitalize: "none" });
}

function creating(wire) {
  return oneField({
    label: t("me.handle"), hint: t("me.handle-hint"), input: handleInput(suggestion()),
    text: t("me.kind"), words: t("me.create"),
    act: async (handle) => {
      markToken(true);
      await wire.create(handle).catch((error) => {
        markToken(false);
        throw error;
      });
    },
  });
}

function signingIn(wire) {
  const input = h("input", { type: "password", required: true, maxlength: 128,
    autocomplete: "current-password" });
  const user = h("input", { autocomplete: "username", hidden: true });
  return oneField({
    title: t("me.sign-in"), before: user, text: t("me.sign-in-text"), label: t("me.token"), input,
    words: t("me.sign-in-button"),
    act: async (token) => {
      await wire.signIn(token);
      markToken(false);
      note(t("me.signed-in", { handle: wire.player?.handle ?? "" }));
    },
  });
}

function tokenShown(wire, fill) {
  const kept = () => {
    markToken(false);
    fill();
  };
  return h("section", { class: "panel token" }, h("h2", null, t("me.new-token")),
    h("p", null, t("me.token-warning")),
    h("code", { class: "secret", tabindex: "0" }, wire.token),
    h("div", { class: "buttons" },
      copyButton(wire.token, t("me.copy")), button(t("me.kept"), kept, { class: "primary" })));
}

function renaming(wire) {
  return oneField({
    title: t("me.rename"), label: t("me.handle"), hint: t("me.handle-hint"),
    input: handleInput(wire.player.handle), words: t("me.rename-button"),
    act: async (handle) => {
      await wire.rename(handle);
      note(t("me.renamed", { handle }));
    },
  });
}

function rotating(wire, fill) {
  const rotate = async (event) => {
    const pressed = event.currentTarget;
    const question = { title: t("me.rotate"), text: t("me.rotate-text") };
    if (!(await ask({ ...question, yes: t("me.rotate-button") }))) return;
    await attempt(pressed, async () => {
      await wire.rotate();
      markToken(true);
      fill();
      document.querySelector(".token .secret")?.focus();
    });
  };
  return h("section", { class: "panel" }, h("h2", null, t("me.rotate")),
    h("p", null, t("me.rotate-text")), button(t("me.rotate-button"), rotate));
}

function signingOut(wire) {
  const signOut = async () => {
    const question = { title: t("me.sign-out"), text: t("me.sign-out-text") };
    if (!(await ask({ ...question, yes: t("me.sign-out"), danger: true }))) return;
    markToken(false);
    await attempt(null, async () => wire.becomeGuest());
  };
  return h("section", { class: "panel" }, h("h2", null, t("me.sign-out")),
    h("p", null, t("me.sign-out-text")), button(t("me.sign-out"), signOut));
}

function deleting(wire) {
  const input = h("input", { required: true, autocomplete: "off", spellcheck: "false",
    autocapitalize: "none" });
  return oneField({
    title: t("me.delete"), text: t("me.delete-text"), label: t("me.delete-label"), input,
    words: t("me.delete-button"), danger: true,
    act: async (handle) => {
      await wire.remove(handle).catch((error) => {
        throw error.code === "forbidden" ? Object.assign(error, { code: "other-name" }) : error;
      });
      markToken(false);
      note(t("me.deleted"));
    },
  });
}
