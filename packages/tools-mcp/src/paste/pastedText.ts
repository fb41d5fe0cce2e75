const FENCE = /^```\w*\n([\s\S]*?)\n?```$/;
// Words that mean something to a shell alone: operators anywhere, its own commands at the front.
const OPERATOR = /^(?:&&?|\|\|?|;|[<>]{1,2})$/;
const BUILTIN = /^(?:export|set|cd|source|alias)$/;

/** The text without what surrounds it on a page: a fence, quotes of code, a shell's prompt, a list's comma. */
export function withoutDecoration(text: string): string {
  const plain = text.trim();
  const [, inner = plain] =
    FENCE.exec(plain) ?? /^`([^`]+)`$/.exec(plain) ?? /^<(https?:[^<>]+)>$/.exec(plain) ?? [];
  return inner
    .trim()
    .replace(/^[$%] /, "")
    .replace(/,$/, "");
}

/** A command that goes over several lines as one line. Throws for lines that are no command. */
export function oneLine(text: string): string {
  const joined = text.replace(/\\\r?\n\s*/g, " ");
  if (/\n/.test(joined)) {
    throw new Error("These lines are not understood. Paste one command line, an address, JSON or TOML.");
  }
  return joined;
}

/** Throws for words that only a shell understands: a server is started without one. */
export function assertNoShell(words: readonly string[]): void {
  const found = words.find((word, index) => OPERATOR.test(word) || (index === 0 && BUILTIN.test(word)));
  if (found === undefined) return;
  throw new Error(`"${found}" needs a shell. Paste the command that starts the server alone.`);
}

/** Takes the variables off the front of a command: `KEY=value npx …` and `env KEY=value npx …`. */
export function leadingVariables(words: readonly string[]): {
  readonly env: Readonly<Record<string, string>>;
  readonly rest: readonly string[];
} {
  const from = words[0] === "env" ? 1 : 0;
  const env: Record<string, string> = {};
  for (const [index, word] of words.slice(from).entries()) {
    const [, name, value = ""] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    if (name === undefined)
      return index === 0 ? { env, rest: words } : { env, rest: words.slice(from + index) };
    env[name] = value;
  }
  return { env: {}, rest: words };
}
