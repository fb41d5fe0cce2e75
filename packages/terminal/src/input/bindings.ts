import type { Key } from "./keys.js";

/** The actions that keys can be bound to in the config, each with its default key. */
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
  // Has no default key.
  rewind: "rewind",
};

/** Key bindings by key name (`ctrl-t`, `alt-p`, `f2`): an action, a command such as `/tools`, or `none`. */
export type KeyBindings = Readonly<Record<string, string>>;

/** Replaces a key with the default key of its action; `undefined` for a key without effect. */
export function translateKey(key: Key, bindings: KeyBindings): Key | undefined {
  if (key.type !== "key") return key;
  const bound = Object.hasOwn(bindings, key.name) ? bindings[key.name] : undefined;
  if (bound === undefined) return key;
  if (bound === "none") return undefined;
  // A command is its own name.
  return { type: "key", name: ACTIONS[bound] ?? bound };
}

/** The key that has an action, as hints show it: `Ctrl+O`. `undefined` if no key has it. */
export function keyOf(action: string, bindings: KeyBindings): string | undefined {
  const usual = ACTIONS[action] ?? action;
  const isUsual = !Object.hasOwn(bindings, usual) || bindings[usual] === action;
  const key = isUsual ? usual : Object.keys(bindings).find((name) => bindings[name] === action);
  return key
    ?.split("-")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("+");
}

/** The bindings with key names as the terminal reports them: `Ctrl+T` becomes `ctrl-t`. */
export function normalBindings(bindings: KeyBindings): KeyBindings {
  return Object.fromEntries(
    Object.entries(bindings).map(([name, action]) => [name.toLowerCase().replaceAll("+", "-"), action]),
  );
}
