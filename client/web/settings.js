/** What a player has set for this browser. Kept in it; the server knows nothing of it. */

const KEY = "cellmates.settings";

/** Every setting with the value that it has before anybody chose one. */
const DEFAULTS = Object.freeze({
  theme: "auto",
  fourColours: false,
  stuckInEightOff: false,
  motion: "auto",
  tapMoves: true,
  language: "en",
});

/** Settings by name; dispatches "change" with `detail {name, value}`, also for other tabs. */
export class Settings extends EventTarget {
  #storage;
  #values;

  /** @param {Storage|null} storage where they are kept; null: only in memory */
  constructor(storage) {
    super();
    this.#storage = storage;
    this.#values = this.#read();
  }

  /**
   * @param {string} name one of `DEFAULTS`
   * @returns {string|boolean} its value
   * @throws {RangeError} there is no such setting
   */
  get(name) {
    if (!(name in DEFAULTS)) throw new RangeError(`no setting ${name}`);
    return this.#values[name];
  }

  /**
   * @param {string} name one of `DEFAULTS`
   * @param {string|boolean} value of the same type as its default
   * @throws {RangeError} there is no such setting
   */
  set(name, value) {
    if (this.get(name) === value) return;
    this.#values[name] = value;
    try {
      this.#storage?.setItem(KEY, JSON.stringify(this.#values));
    } catch {
      // A full or forbidden storage: it holds for as long as the page is open.
    }
    this.#tell(name);
  }

  /** Takes over what another tab has set. */
  reload() {
    const before = this.#values;
    this.#values = this.#read();
    for (const name of Object.keys(DEFAULTS)) {
      if (before[name] !== this.#values[name]) this.#tell(name);
    }
  }

  #tell(name) {
    const detail = { name, value: this.#values[name] };
    this.dispatchEvent(new CustomEvent("change", { detail }));
  }

  #read() {
    const values = { ...DEFAULTS };
    try {
      const kept = JSON.parse(this.#storage?.getItem(KEY) ?? "{}");
      for (const [name, initial] of Object.entries(DEFAULTS)) {
        if (typeof kept[name] === typeof initial) values[name] = kept[name];
      }
    } catch {
      return { ...DEFAULTS };
    }
    return values;
  }
}

function storageOfPage() {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}

/** The settings of this page. */
export const settings = new Settings(storageOfPage());

globalThis.addEventListener?.("storage", (event) => {
  if (event.key === KEY) settings.reload();
});
