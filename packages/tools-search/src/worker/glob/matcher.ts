import type { GlobLibraries } from "./libraries.js";

/** The options that fast-glob passes to micromatch, with dotfiles included. */
const OPTIONS = { dot: true, posix: true, strictSlashes: false, nobrace: false } as const;

const NEVER = /(?!)/;

/** Compiles a glob as fast-glob does, and lets its wildcards match a line break in a name too. */
export function globToRegex(pattern: string, { micromatch }: GlobLibraries): RegExp {
  const expression = micromatch.makeRe(pattern, OPTIONS) || NEVER;
  return new RegExp(expression.source, `${expression.flags}s`);
}

/** The common literal suffix of all matches, compared first because it is cheap: `.ts` for `src/*.ts`. Often empty. */
export function fixedEnd(pattern: string): string {
  // A `|` also divides a pattern in unexpected positions, and then each side has its own end.
  return pattern.includes("|") ? "" : (/[\w.-]*$/.exec(pattern)?.[0] ?? "");
}

/** The patterns that the braces of a glob expand to, as in fast-glob. */
export function expandBraces(pattern: string, { micromatch }: GlobLibraries): string[] {
  const expanded = micromatch.braces(pattern, {
    expand: true,
    nodupes: true,
    keepEscaping: true,
  });
  return expanded.filter((one) => one !== "");
}

/** Whether one of the patterns can match something below a directory; fast-glob prunes by this rule. */
export function createDirectoryTest(
  patterns: readonly string[],
  libraries: GlobLibraries,
): ((path: string) => boolean) | undefined {
  const shapes = patterns.map((pattern) => shapeOf(pattern, libraries));
  // "**/…" can match everywhere.
  if (shapes.some((shape) => shape.beforeGlobstar === 0)) return undefined;
  return (path) => {
    const names = path.split("/");
    return shapes.some(({ segments, beforeGlobstar }) => {
      if (beforeGlobstar === undefined && names.length >= segments.length) return false;
      if (beforeGlobstar !== undefined && names.length > beforeGlobstar) return true;
      return names.every((name, index) => matches(segments[index], name));
    });
  };
}

type Segment = string | RegExp;

interface PatternShape {
  readonly segments: readonly Segment[];
  /** The number of segments before the first one with `**`; `undefined` if none has it. */
  readonly beforeGlobstar: number | undefined;
}

function shapeOf(pattern: string, libraries: GlobLibraries): PatternShape {
  const { fastGlob, micromatch } = libraries;
  const { parts } = micromatch.scan(pattern, { ...OPTIONS, parts: true });
  const names = parts.length === 0 ? [pattern] : [...parts];
  if (names[0]?.startsWith("/")) names.splice(0, 1, "", names[0].slice(1));
  const segments = names.map((name) =>
    name !== "" && fastGlob.isDynamicPattern(name) ? globToRegex(name, libraries) : name,
  );
  const globstar = segments.findIndex(
    (segment, index) => segment instanceof RegExp && names[index]?.includes("**"),
  );
  return { segments, beforeGlobstar: globstar === -1 ? undefined : globstar };
}

function matches(segment: Segment | undefined, name: string): boolean {
  return segment instanceof RegExp ? segment.test(name) : segment === name;
}
