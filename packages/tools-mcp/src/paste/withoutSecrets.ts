import { isSecretName, isSecretValue, quote } from "@agent/core/toolkit";
import type { HttpServerOptions, StdioServerOptions } from "../config/options.js";

/** More names than elsewhere count as secrets: the text is written to a file, and a server has few variables. */
const MAY_BE_SECRET = /session|private|cert|connection/i;
const LONG_RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=-]{24,}$/;
// With a space after the colon, or a name that only a header has: `image:tag` is not one.
const HEADER = /^((?:proxy-)?authorization|cookie|[\w-]+(?=:\s)):\s*(.*)$/is;
/** A placeholder in documentation, or a reference to a variable in another tool's syntax. */
const REFERENCE = /^\$\{(?:env:|input:)?([A-Za-z_][\w-]*)(?::-[^}]*)?\}$|^\$([A-Za-z_]\w*)$/;
const ANY_REFERENCE = /\$\{(?:env:|input:)?([A-Za-z_][\w-]*)(:-[^}]*)?\}/g;

/** A part of a config in which every secret is replaced with the name of a variable, and the secrets. */
export interface Withheld<T> {
  readonly value: T;
  /** The variables the server needs. */
  readonly variables: readonly string[];
  /** Values that were pasted for them. Never shown or written. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** The environment without values that must not be in a file: those become names of variables. */
export function withoutSecretVariables(
  env: Readonly<Record<string, string>>,
): Withheld<NonNullable<StdioServerOptions["env"]>> {
  const kept: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  const variables: string[] = [];
  for (const [name, text] of Object.entries(env)) {
    const reference = REFERENCE.exec(text);
    const referred = reference && variableName(reference[1] ?? reference[2] ?? name);
    if (referred) {
      kept[name] = `\${${referred}}`;
      variables.push(referred);
    } else if (isSecret(name, text)) {
      kept[name] = `\${${name}}`;
      variables.push(name);
      if (!isPlaceholder(text)) secrets[name] = text;
    } else kept[name] = toOwnReferences(text, variables);
  }
  const isNamesOnly = Object.entries(kept).every(([name, text]) => text === `\${${name}}`);
  return { value: isNamesOnly ? Object.keys(kept) : kept, variables, secrets };
}

/** Headers in which every secret is its own variable: `Bearer ${GITHUB_TOKEN}`. */
export function withoutSecretHeaders(
  server: string,
  headers: Readonly<Record<string, string>>,
): Withheld<NonNullable<HttpServerOptions["headers"]>> {
  const kept: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  const variables: string[] = [];
  for (const [name, text] of Object.entries(headers)) {
    const own = toOwnReferences(text, variables);
    if (own !== text || /\$\{/.test(text) || !isSecret(name, text)) {
      kept[name] = own;
      continue;
    }
    const [, scheme = "", value = ""] = /^((?:Bearer|Basic|Token)\s+)?(.*)$/is.exec(text) ?? [];
    const isToken = name.toLowerCase() === "authorization";
    const variable = variableName(`${server}_${isToken ? "TOKEN" : name}`).toUpperCase();
    kept[name] = `${scheme}\${${variable}}`;
    variables.push(variable);
    if (!isPlaceholder(value)) secrets[variable] = value;
  }
  return { value: kept, variables, secrets };
}

/** Throws for a secret in an argument list, which everyone on the machine can read, or in a URL. */
export function assertNoSecretArguments(args: readonly string[]): void {
  for (const [index, word] of args.entries()) {
    const [, flag, inline] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const next = args[index + 1] ?? "";
    const value = inline ?? (next.startsWith("-") ? "" : next);
    const isNamed = flag !== undefined && value !== "" && isSecret(flag, value) && !isOrdinary(value);
    if (isNamed || isSecretValue(word) || isSecretHeader(inline ?? word)) {
      throw new Error(
        `The argument ${quote(flag ?? "…")} holds a secret, and the arguments of a program can be read by every user of the machine. Pass it as a variable of the environment, if the server takes one: see its documentation.`,
      );
    }
  }
}

/** Throws for a key in a URL: it would be in the config and in logs. */
export function assertNoSecretAddress(url: URL): void {
  const found = [...url.searchParams].find(([name, value]) => value !== "" && isSecret(name, value));
  if (found) {
    throw new Error(
      `The address holds a secret (${quote(found[0])}). Leave it out and send it as a header, if the server takes one: --header "Authorization: Bearer \${NAME}".`,
    );
  }
}

/** Whether a value must not be in a file or an argument list, by its name or its format. */
export function isSecret(name: string, value: string): boolean {
  const isNamed = isSecretName(name) || MAY_BE_SECRET.test(name);
  return isNamed || isSecretValue(value) || LONG_RANDOM.test(value);
}

/** Whether an argument is a header with a secret, as bridges to servers on HTTP take it: `Authorization: Bearer …`. */
function isSecretHeader(word: string): boolean {
  const [, name = "", value = ""] = HEADER.exec(word) ?? [];
  return value !== "" && !value.includes("$") && isSecret(name, value);
}

/** Numbers and booleans are not secrets, whatever their name: `--max-tokens 100`. */
function isOrdinary(value: string): boolean {
  return /^(?:\d{1,9}|true|false|on|off|yes|no)$/i.test(value);
}

function isPlaceholder(value: string): boolean {
  return value === "" || /^<.*>$|^\[.*\]$|your|xxx|\.\.\.|…|placeholder|changeme|example/i.test(value);
}

/** Converts `${env:NAME}` and `${input:name}` of other tools to `${NAME}`. */
function toOwnReferences(text: string, variables: string[]): string {
  return text.replace(ANY_REFERENCE, (_, name: string, fallback = "") => {
    const own = variableName(name);
    if (fallback === "") variables.push(own);
    return `\${${own}${fallback}}`;
  });
}

function variableName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : name.replace(/\W+/g, "_").toUpperCase();
}
