import type { Key } from "./keys.js";

/** What keys can be bound to in the config, each with the key that does it by default. */
const ACTIONS: Readonly<Record<string, string>> = {
  send: "enter",
  newline: "newline",
  stop: "escape",
  complete: "tab",
  "next-mode": "shift-tab",
  expand: "ctrl-o",
  background: "ctrl-b",
  "clear-screen": "ctrl-l",
  suspend: "ctrl-z",
  "search-history": "ctrl-r",
  "open-editor": "ctrl-g",
  "paste-image": "ctrl-v",
  older: "up",
  newer: "down",
  undo: "undo",
  left: "left",
  right: "right",
  "word-left": "alt-b",
  "word-right": "alt-f",
  "line-start": "ctrl-a",
  "line-end": "ctrl-e",
  "delete-word": "ctrl-w",
  "delete-next-word": "alt-d",
  "delete-to-start": "ctrl-u",
  "delete-to-end": "ctrl-k",
  "put-back": "ctrl-y",
  // Has no single key by default.
  rewind: "rewind",
};

/** Keys by their names (`ctrl-t`, `alt-p`, `f2`), and what each does: an action, a command such as `/tools`, or `none`. */
export type KeyBindings = Readonly<Record<string, string>>;

/** Replaces a key by the one that has its effect by default; `undefined` for a key without effect. */
export function translateKey(key: Key, bindings: KeyBindings): Key | undefined {
  if (key.type !== "key") return key;
  const bound = Object.hasOwn(bindings, key.name) ? bindings[key.name] : undefined;
  if (bound === undefined) return key;
  if (bound === "none") return undefined;
  // A command is its own name.
  return { type: "key", name: ACTIONS[bound] ?? bound };
}

/** The bindings with the names of keys as the terminal reports them: `Ctrl+T` is `ctrl-t`. */
export function normalBindings(bindings: KeyBindings): KeyBindings {
  return Object.fromEntries(
    Object.entries(bindings).map(([name, action]) => [name.toLowerCase().replaceAll("+", "-"), action]),
  );
}
