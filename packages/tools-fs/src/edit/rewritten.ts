/** Both texts of an edit in another interpretation, and what was changed. */
export interface Rewritten {
  readonly oldText: string;
  readonly newText: string;
  /** What was removed from both texts: `line numbers`. */
  readonly without: string;
  /** Why the new text cannot be interpreted the same way, although the old one can. */
  readonly problem?: string;
}

const NUMBERED = /^[ \t]*(\d{1,7})(?:\t|→|\||│|:[ \t]?)/;
const FENCED = /^\s*(```+|~~~+)[^\n`]*\n([\s\S]*?)\n?[ \t]*\1\s*$/;
const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#34;": '"',
  "&#39;": "'",
  "&apos;": "'",
  "&amp;": "&",
};
const ENTITY = /&(?:lt|gt|quot|#34|#39|apos|amp);/g;
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  '"': '"',
  "'": "'",
  "\\": "\\",
};
const ESCAPE = /\\([ntr"'\\])/g;

/**
 * Other interpretations of an edit whose old text was not found: text that models wrapped or encoded once too often.
 */
export function rewrittenTexts(oldText: string, newText: string): Rewritten[] {
  return [withoutNumbers, withoutFences, withoutEntities, withoutEscapes].flatMap(
    (rewrite) => rewrite(oldText, newText) ?? [],
  );
}

/** Why a new text should not be written verbatim, if it is clearly not what the caller meant. */
export function newTextProblem(oldText: string, newText: string, isMarkup: boolean): string | undefined {
  if (!isMarkup && FENCED.test(newText) && !/```|~~~/.test(oldText)) return "is inside a Markdown fence";
  if (areNumbered(newText, 2) && !areNumbered(oldText, 1)) return "has line numbers";
  if (!isMarkup && encodesEntities(oldText, newText))
    return "has HTML entities where old_text has characters";
  if (escapesQuotes(oldText, newText)) return "has a backslash before every quote, where old_text has none";
  if (escapesBreaks(oldText, newText)) return "has \\n outside of quotes, where a line break is meant";
  return undefined;
}

function withoutNumbers(oldText: string, newText: string): Rewritten | undefined {
  if (!areNumbered(oldText, 1)) return undefined;
  const strip = (text: string): string =>
    text
      .split("\n")
      .map((line) => line.replace(NUMBERED, ""))
      .join("\n");
  const some = contentLines(newText).some((line) => NUMBERED.test(line));
  const every = contentLines(newText).every((line) => NUMBERED.test(line));
  return {
    oldText: strip(oldText),
    newText: every ? strip(newText) : newText,
    without: "line numbers",
    ...(some && !every && { problem: "has line numbers in some of its lines only" }),
  };
}

function areNumbered(text: string, fewest: number): boolean {
  const lines = contentLines(text);
  const numbers = lines.map((line) => Number(NUMBERED.exec(line)?.[1]));
  return (
    lines.length >= fewest &&
    numbers.every(
      (number, index) => Number.isInteger(number) && (index === 0 || number > (numbers[index - 1] ?? 0)),
    )
  );
}

function contentLines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function withoutFences(oldText: string, newText: string): Rewritten | undefined {
  const inner = FENCED.exec(oldText)?.[2];
  if (inner === undefined) return undefined;
  return { oldText: inner, newText: FENCED.exec(newText)?.[2] ?? newText, without: "a Markdown fence" };
}

function withoutEntities(oldText: string, newText: string): Rewritten | undefined {
  const decode = (text: string): string => text.replace(ENTITY, (entity) => ENTITIES[entity] ?? entity);
  if (decode(oldText) === oldText) return undefined;
  // A raw character next to entities: the caller encoded only one part.
  const isMixed = /&(lt|gt);/.test(newText) && /[<>]/.test(newText);
  return {
    oldText: decode(oldText),
    newText: decode(newText),
    without: "HTML entities",
    ...(isMixed && { problem: "has HTML entities and the characters they stand for" }),
  };
}

function withoutEscapes(oldText: string, newText: string): Rewritten | undefined {
  const kinds = new Set([...oldText.matchAll(ESCAPE)].map(([, kind]) => kind));
  if (kinds.size === 0) return undefined;
  const decode = (text: string): string => text.replace(ESCAPE, (_, kind: string) => ESCAPES[kind] ?? kind);
  // An escape that is not in old_text may be intended: "\n" in a string.
  const other = [...newText.matchAll(ESCAPE)].find(([, kind]) => !kinds.has(kind));
  return {
    oldText: decode(oldText),
    newText: decode(newText),
    without: "backslashes that escape characters once too often",
    ...(other && { problem: `has ${other[0]}, which may be meant or escaped once too often` }),
  };
}

/** Whether the new text has entities for characters that the old text contains unencoded. */
function encodesEntities(oldText: string, newText: string): boolean {
  if (ENTITY_IN.test(oldText)) return false;
  return [...newText.matchAll(ENTITY)].some(([entity]) => {
    const character = ENTITIES[entity] ?? "";
    return character !== "&"
      ? oldText.includes(character) && !withoutEntity(newText).includes(character)
      : false;
  });
}

const ENTITY_IN = /&(?:lt|gt|quot|#34|#39|apos|amp);/;

function withoutEntity(text: string): string {
  return text.replace(ENTITY, "");
}

function escapesQuotes(oldText: string, newText: string): boolean {
  return [`"`, "'"].some((mark) => {
    const has = (text: string, pattern: string): boolean => text.includes(pattern);
    const bare = new RegExp(`(?<!\\\\)${mark}`);
    return (
      has(newText, `\\${mark}`) && !bare.test(newText) && bare.test(oldText) && !has(oldText, `\\${mark}`)
    );
  });
}

/** A literal `\n` before indentation or a closing bracket, outside of quotes, that the old text does not contain. */
function escapesBreaks(oldText: string, newText: string): boolean {
  if (/\\n/.test(oldText)) return false;
  return newText.split("\n").some((line) => {
    const at = line.search(/\\n(?: {2,}|\\t|\t|[)}\]])/);
    if (at === -1) return false;
    const before = line.slice(0, at).replace(/\\./g, "");
    return [`"`, "'", "`", "/"].every((mark) => (before.split(mark).length - 1) % 2 === 0);
  });
}
