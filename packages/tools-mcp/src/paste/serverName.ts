import { imageOf, isContainer } from "./container.js";

const MAX_LENGTH = 32;
/** Words that say nothing about which server it is. */
const EMPTY_WORDS = new Set([
  "mcp",
  "server",
  "api",
  "www",
  "app",
  "com",
  "dev",
  "io",
  "org",
  "net",
  "ai",
  "sh",
]);
/** Programs that start other programs: the server is named after what follows. */
const LAUNCHERS = new Set([
  "npx",
  "bunx",
  "pnpx",
  "uvx",
  "pipx",
  "node",
  "bun",
  "deno",
  "python",
  "python3",
  "uv",
  "pnpm",
  "yarn",
  "npm",
]);
/** Subcommands of launchers: the name of the server comes later. */
const VERBS = new Set(["run", "exec", "dlx", "x", "tool", "start"]);

/** A pasted name as one that is allowed: letters, digits, "-" and single "_". */
export function allowedName(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/_{2,}/g, "_")
    .replace(/^[-_]+/, "")
    .slice(0, MAX_LENGTH)
    .replace(/[-_]+$/, "");
  return plain === "" ? "server" : plain;
}

/** A name for a program: `npx -y @modelcontextprotocol/server-filesystem .` is `filesystem`. */
export function nameOfCommand(words: readonly string[]): string {
  const [program = "", ...rest] = words;
  const base = program.split(/[\\/]/).at(-1) ?? program;
  if (!LAUNCHERS.has(base) && !isContainer(base)) return fromWords(base);
  const named = rest.filter((word) => !word.startsWith("-") && !word.includes("=") && !VERBS.has(word));
  const subject = (isContainer(base) ? imageOf(rest) : named[0]) ?? base;
  // Without version, tag, directory and extension; the scope names the server where the rest says nothing.
  const path = subject.replace(/^(@[^/]+\/[^@]+|[^@]+)@.*$/, "$1").split(/[\\/]/);
  const last = (path.at(-1) ?? base).replace(/:[^:]*$/, "").replace(/\.[cm]?[jt]s$|\.py$/, "");
  const [scope = ""] = path;
  return fromWords(scope.startsWith("@") && tellingWords(last).length === 0 ? scope : last);
}

/** A name for an address: `https://mcp.linear.app/mcp` is `linear`. */
export function nameOfAddress(url: URL): string {
  const isNumber = /^[\d.:[\]]+$/.test(url.hostname);
  return isNumber || url.hostname === "localhost" ? `local-${url.port || "http"}` : fromWords(url.hostname);
}

function fromWords(text: string): string {
  const telling = tellingWords(text);
  return allowedName((telling.length > 0 ? telling : wordsOf(text)).join("-"));
}

function tellingWords(text: string): string[] {
  return wordsOf(text).filter((word) => !EMPTY_WORDS.has(word));
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}
