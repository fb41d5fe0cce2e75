/** One line of an ignore file. */
export interface IgnoreRule {
  /** The glob, without its markers. */
  readonly glob: string;
  /** `!`: reverts an earlier rule. */
  readonly negated: boolean;
  /** A `/` at the end: directories only. */
  readonly directoriesOnly: boolean;
  /** A `/` elsewhere: compared with the path from the ignore file's directory, not with the name alone. */
  readonly anchored: boolean;
}

/** Parses the rules of a `.gitignore` or `.ignore` file, like git: invalid lines are skipped. */
export function parseIgnoreFile(text: string): IgnoreRule[] {
  return text
    .replace(/^\ufeff/, "")
    .split("\n")
    .map(parseLine)
    .filter((rule) => rule !== undefined);
}

function parseLine(line: string): IgnoreRule | undefined {
  let glob = trimEnd(line.replace(/\r$/, ""));
  if (glob === "" || glob.startsWith("#")) return undefined;
  const negated = glob.startsWith("!");
  if (negated) glob = glob.slice(1);
  const directoriesOnly = glob.endsWith("/");
  if (directoriesOnly) glob = glob.slice(0, -1);
  const anchored = glob.includes("/");
  if (glob.startsWith("/")) glob = glob.slice(1);
  return glob === "" ? undefined : { glob, negated, directoriesOnly, anchored };
}

/** Trailing spaces are ignored, unless the first of them is escaped. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
  let backslashes = 0;
  while (line[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}
