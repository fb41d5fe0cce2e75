import type { PasteOptions } from "./pastedServers.js";

// Options of other tools' `mcp add` that take a value, with our names; the others are dropped.
const WITH_VALUE: Readonly<Record<string, "env" | "header" | "transport" | "url" | "bearer" | "dropped">> = {
  "-e": "env",
  "--env": "env",
  "-H": "header",
  "--header": "header",
  "-t": "transport",
  "--transport": "transport",
  "--url": "url",
  "--bearer-token-env-var": "bearer",
  "-s": "dropped",
  "--scope": "dropped",
  "--timeout": "dropped",
};

/** The server that another tool's command adds. */
export interface AddCommand {
  readonly words: readonly string[];
  readonly options: PasteOptions;
}

/**
 * Parses `claude mcp add NAME -e KEY=value -- npx …`, `code --add-mcp '{…}'` and similar commands of other tools;
 * `undefined` for anything else.
 */
export function readAddCommand(line: readonly string[]): AddCommand | undefined {
  const [tool = "", mcp, verb = ""] = line;
  if (mcp === "--add-mcp" && line.length === 3) return { words: [verb], options: {} };
  if (!/^[a-z]+$/.test(tool) || mcp !== "mcp" || !["add", "add-json"].includes(verb)) return undefined;
  const env: Record<string, string> = {};
  const headers: Record<string, string> = {};
  const plain: string[] = [];
  let transport: string | undefined;
  const rest = line.slice(3);
  while (rest.length > 0) {
    const word = rest.shift() ?? "";
    if (word === "--") {
      plain.push(...rest.splice(0));
      break;
    }
    const [, flag = word, inline] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
    const kind = Object.hasOwn(WITH_VALUE, flag) ? WITH_VALUE[flag] : undefined;
    if (kind === undefined) {
      // Everything after the program belongs to it, including options.
      if (!word.startsWith("-") || plain.length > 1) plain.push(word);
      continue;
    }
    const value = inline ?? rest.shift() ?? "";
    if (kind === "env") Object.assign(env, keyValue(value, "="));
    if (kind === "header") Object.assign(headers, keyValue(value, ":"));
    if (kind === "bearer") headers.Authorization = `Bearer \${${value}}`;
    if (kind === "transport") transport = value;
    if (kind === "url") plain.push(value);
  }
  const [name, ...words] = plain;
  if (words.length === 0) return undefined;
  return { words, options: { name, env: orNone(env), headers: orNone(headers), transport } };
}

/** Parses `KEY=value` or `Key: value` as an entry; a name alone refers to the variable of that name. */
export function keyValue(text: string, separator: "=" | ":"): Record<string, string> {
  const at = text.indexOf(separator);
  return at === -1 ? { [text]: `\${${text}}` } : { [text.slice(0, at).trim()]: text.slice(at + 1).trim() };
}

function orNone(map: Record<string, string>): Record<string, string> | undefined {
  return Object.keys(map).length > 0 ? map : undefined;
}
