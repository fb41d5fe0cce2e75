import { dirname } from "node:path";
import { optionalDirectory, path, quoted, rule, text } from "../grammar.js";
import { isPath, looksLikeFile, looksLikePath } from "../paths.js";
import type { PlannedCall, RequestRule, Words } from "../types.js";

const SHOW = "(?:list|show|display|give|ls|print|see)(?: me)?";
const READ = "(?:read|show|print|display|give|cat)(?: me)?";
const DETAILS = "(?<details>,? (?:with|including|in) (?:details?|sizes?|more detail))?";
const FILE = "(?: the)?(?: file)?(?: called| named)?";
const OVERWRITE =
  "(?<overwrite>,? (?:and )?(?:overwrite|overwriting|replace|replacing)(?: it| the existing(?: file| one)?)?)?";

export const LIST_RULES: readonly RequestRule[] = [
  rule(
    `${SHOW}(?: all)?(?: of)?(?: the)? (?<noun>files|contents?|entries|directories|folders|everything|things)(?: and (?:folders|directories|files))?${optionalDirectory("path")}${DETAILS}`,
    (words) => {
      const place = words.get("path");
      if (place === "") return list(words, ".");
      if (!isPath(words, "path")) return undefined;
      return /^content/i.test(words.get("noun")) && looksLikeFile(place)
        ? readWhole(place)
        : list(words, place);
    },
  ),
  rule(
    `(?:list|ls|dir|show)(?: me)? (?:here|(?:this|the current|the working|my) (?:directory|folder|dir))${DETAILS}`,
    (words) => list(words, "."),
  ),
  rule(`(?:list|ls|dir)(?<long> -[la]+)?`, (words) => list(words, ".")),
  rule(
    `(?:list|ls|dir)(?<long> -[la]+)?(?: the)?(?: (?:directory|folder|dir))? ${path("path")}(?: (?:directory|folder|dir))?${DETAILS}`,
    (words) => (isPath(words, "path") ? list(words, words.get("path")) : undefined),
  ),
  rule(
    `(?:show me|let me see|i want to see|what(?:'s| is) inside)(?: of)?(?: the)? ${path("path")}(?: (?:directory|folder|dir))`,
    (words) => (isPath(words, "path") ? list(words, words.get("path")) : undefined),
  ),
  rule(
    `(?:what(?:'s| is) inside|look (?:into|inside|in)|go through)(?: of)?(?: the)?(?: (?:directory|folder|dir))? ${path("path")}`,
    (words) => {
      if (!isPath(words, "path")) return undefined;
      return looksLikeFile(words.get("path")) ? readWhole(words.get("path")) : list(words, words.get("path"));
    },
  ),
  rule(
    `(?:which|what) (?:files|folders|directories|things|stuff) (?:does|do)(?: the)?(?: (?:directory|folder|dir))? ${path("path")} (?:have|contain|hold)`,
    (words) => (isPath(words, "path") ? list(words, words.get("path")) : undefined),
  ),
  rule(`what(?: all)? (?:do we have|have we got|is there) (?:here|(?:in|under) ${path("path")})`, (words) => {
    if (!words.has("path")) return list(words, ".");
    return isPath(words, "path") ? list(words, words.get("path")) : undefined;
  }),
  rule(`(?:(?:show|tell)(?: me)? )?what(?:'s| is)(?: there)?${optionalDirectory("path")}`, (words) => {
    const place = words.get("path");
    if (place === "") return list(words, ".");
    if (!isPath(words, "path")) return undefined;
    return looksLikeFile(place) ? readWhole(place) : list(words, place);
  }),
  rule(
    `(?:what|which) (?:files|folders|directories)(?: and (?:folders|directories|files))? (?:are|do (?:i|we|you) have)(?: there)?${optionalDirectory("path")}`,
    (words) => {
      if (words.get("path") === "") return list(words, ".");
      return isPath(words, "path") ? list(words, words.get("path")) : undefined;
    },
  ),
  // The listing of its directory shows the size of a file beside its name.
  rule(`(?:how (?:big|large) is|what(?:'s| is) the size of|what size is)${FILE} ${path("path")}`, (words) =>
    looksLikePath(words, "path") && looksLikeFile(words.get("path"))
      ? { tool: "list_dir", args: { path: dirname(words.get("path")), details: true } }
      : undefined,
  ),
];

export const READ_RULES: readonly RequestRule[] = [
  rule(
    `${READ}(?: the)? lines? (?<from>\\d+)(?:(?: to | through | and |-|–| - )(?<to>\\d+))? (?:of|in|from)${FILE} ${path("path")}`,
    readLines,
  ),
  rule(`${READ}(?: the)? first (?<count>\\d+) lines? (?:of|in|from)${FILE} ${path("path")}`, readLines),
  rule(
    `(?:read|show|print|cat)(?: me)?${FILE} ${path("path")},? lines? (?<from>\\d+)(?:(?: to | through |-|–| - )(?<to>\\d+))?`,
    readLines,
  ),
  rule(
    `(?:read|show|print|cat)(?: me)?${FILE} ${path("path")},? (?<onward>from|starting at) line (?<from>\\d+)`,
    readLines,
  ),
  rule(`head(?: -n)?(?: -?(?<count>\\d+))? ${path("path")}`, readLines),
  rule(
    `(?:read|open|print|cat|type|view)(?: me)?(?: (?:the )?contents? of)?${FILE} ${path("path")}(?: file)?`,
    (words) => (isPath(words, "path") ? readWhole(words.get("path")) : undefined),
  ),
  rule(`(?:read|cat)${FILE} ${path("path")}(?: and|, and|,)${FILE} ${path("second")}`, (words) =>
    isPath(words, "path") && looksLikePath(words, "second")
      ? [readWhole(words.get("path")), readWhole(words.get("second"))]
      : undefined,
  ),
  rule(
    `(?:show|display|give|see)(?: me)?(?<certain> (?:the )?(?:contents?|text|source) of| (?:the )?file)?${FILE} ${path("path")}(?: file)?`,
    (words) =>
      (words.has("certain") ? isPath(words, "path") : looksLikePath(words, "path"))
        ? readWhole(words.get("path"))
        : undefined,
  ),
  rule(
    `(?:show|give|read|print)(?: me)?(?: the)? top (?<count>\\d+) lines? (?:of|in|from)${FILE} ${path("path")}`,
    readLines,
  ),
  rule(`(?:what(?:'s| is)|show me)(?: on)? line (?<from>\\d+) (?:of|in)${FILE} ${path("path")}`, readLines),
  rule(
    `what does(?: the)?(?: file)? ${path("path")} (?:say|contain|have) (?:on|in|at) line (?<from>\\d+)`,
    readLines,
  ),
  rule(
    `(?:let me see|i want to (?:see|read)|i'd like to (?:see|read)|take a look at|look at|have a look at|open up|dump|check(?: out)?)${FILE} ${path("path")}`,
    (words) =>
      looksLikePath(words, "path") && looksLikeFile(words.get("path"))
        ? readWhole(words.get("path"))
        : undefined,
  ),
  rule(`what(?:'s| is) (?:written|inside)(?: in| of)?${FILE} ${path("path")}`, (words) =>
    looksLikeFile(words.get("path")) ? readWhole(words.get("path")) : undefined,
  ),
  rule(`what does(?: the)?(?: file)? ${path("path")} (?:say|contain|hold|look like)`, (words) =>
    isPath(words, "path") ? readWhole(words.get("path")) : undefined,
  ),
  rule(`(?:read|open|print|cat|view)${FILE} ${text("path")}`, (words) =>
    !words.quoted("path") && looksLikeFile(words.get("path"))
      ? { hint: `If that is one file, put it in quotes: read "${words.get("path")}"` }
      : undefined,
  ),
];

export const WRITE_RULES: readonly RequestRule[] = [
  rule(
    `(?:write|save|store)(?: the)?(?: (?:text|words?|line|content|string))? ${text("content")} (?:to|into|in|as)(?: a| the)?(?: new)?(?: file)?(?: called| named)? ${path("path")}`,
    write,
  ),
  rule(
    `put(?: the)?(?: (?:text|words?|line|content|string))? ${quoted("content")} (?:into|in)(?: a| the)?(?: new)?(?: file)?(?: called| named)? ${path("path")}`,
    write,
  ),
  rule(
    `(?:create|make|write|add)(?: me)?(?: a| an| the)?(?: new)?(?<file> file)?(?: called| named)? ${path("path")} (?:with|containing|saying|that (?:says|contains|holds))(?: the)?(?: (?:contents?|text|line|words?))?:? ${text("content")}`,
    (words) => (words.has("file") || looksLikePath(words, "path") ? write(words) : undefined),
  ),
  rule(
    `(?:create|make|touch|add)(?: me)?(?: a| an| the)?(?: new)?(?: empty)?(?<file> file)?(?: called| named)? ${path("path")}`,
    (words) =>
      (words.has("file") && isPath(words, "path")) || looksLikeFile(words.get("path"))
        ? {
            hint: `Say what it should hold: create ${words.get("path")} with "some text". (An existing file would be replaced, so an empty one is never made by accident.)`,
          }
        : undefined,
  ),
  rule(`append ${text("content")} to ${path("path")}`, () => ({
    hint: 'There is no tool that appends. Replace a text instead: replace "last line" with "last line and more" in notes.txt',
  })),
];

export const EDIT_RULES: readonly RequestRule[] = [
  rule(
    `(?:replace|change|substitute)(?<all> all| every| each)?(?: (?:occurrences?|instances?) of)?(?: the)?(?: (?:text|word|string))? ${text("old")} (?:with|by|to|into) ${text("new")}(?<everywhere> everywhere)? in${FILE} ${path("path")}(?<also> everywhere)?`,
    edit,
  ),
  rule(
    `in${FILE} ${path("path")},? (?:replace|change)(?<all> all| every| each)?(?: (?:occurrences?|instances?) of)? ${text("old")} (?:with|by|to|into) ${text("new")}(?<everywhere> everywhere)?`,
    edit,
  ),
  rule(
    `edit${FILE} ${path("path")}(?::|,| and| by|, and)? (?:replace|replacing|change|changing)(?<all> all| every| each)? ${text("old")} (?:with|by|to|into) ${text("new")}(?<everywhere> everywhere)?`,
    edit,
  ),
  rule(
    `(?:remove|delete|cut)(?: the)?(?: (?:text|word|line|string))? ${quoted("old")} from${FILE} ${path("path")}`,
    (words) =>
      isPath(words, "path") && words.get("old") !== ""
        ? { tool: "edit_file", args: { path: words.get("path"), old_text: words.get("old"), new_text: "" } }
        : undefined,
  ),
];

export const CHANGE_RULES: readonly RequestRule[] = [
  rule(
    `(?:make|create|add)(?: me)?(?: a| the)?(?: new)? (?:directory|folder|dir)(?: called| named)? ${path("path")}`,
    mkdir,
  ),
  rule(`mkdir(?: -p)? ${path("path")}`, mkdir),
  rule(`(?:make|create)(?: a| the)?(?: new)? ${path("path")} (?:directory|folder|dir)`, mkdir),
  rule(
    `(?:move|rename|mv)(?: the)?(?: (?:file|folder|directory))? ${path("source")} (?:to|into|as|->)(?: the)?(?: (?:folder|directory))? ${path("destination")}${OVERWRITE}`,
    move,
  ),
  rule(
    `give(?: the)?(?: (?:file|folder|directory))? ${path("source")} the(?: new)? name ${path("destination")}${OVERWRITE}`,
    move,
  ),
  rule(`get rid of(?: the)?(?: (?:file|folder|directory|dir))? ${path("path")}`, (words) =>
    looksLikePath(words, "path") ? { tool: "remove", args: { path: words.get("path") } } : undefined,
  ),
  rule(`mv ${path("source")} ${path("destination")}`, move),
  rule(
    `(?:remove|delete|rm|erase)(?: -[rf]+)?(?: the)?(?: (?:file|folder|directory|dir)(?: called| named)?)? ${path("path")}(?: (?:file|folder|directory|dir))?`,
    (words) => (isPath(words, "path") ? { tool: "remove", args: { path: words.get("path") } } : undefined),
  ),
  rule(`copy ${text("what")}`, () => ({
    hint: 'There is no tool that copies. With run_bash on: run "cp a.txt b.txt"',
  })),
];

function list(words: Words, place: string): PlannedCall {
  const details = words.has("details") || words.has("long");
  return { tool: "list_dir", args: { path: place, ...(details && { details: true }) } };
}

function readWhole(place: string): PlannedCall {
  return { tool: "read_file", args: { path: place } };
}

function readLines(words: Words): PlannedCall | undefined {
  if (!isPath(words, "path")) return undefined;
  const first = words.has("from") ? Number(words.get("from")) : 1;
  const last = words.has("to") ? Number(words.get("to")) : first;
  const count = words.has("count") ? Number(words.get("count")) : words.has("from") ? last - first + 1 : 10;
  if (count < 1 || first < 1) return undefined;
  return {
    tool: "read_file",
    args: { path: words.get("path"), offset: first, ...(!words.has("onward") && { limit: count }) },
  };
}

function write(words: Words): PlannedCall | undefined {
  if (!isPath(words, "path")) return undefined;
  return { tool: "write_file", args: { path: words.get("path"), content: words.get("content") } };
}

/** Without quotes, a second "with" or "to" makes it ambiguous where the old text ends: decline instead of guessing. */
function edit(words: Words): PlannedCall | { hint: string } | undefined {
  if (!isPath(words, "path") || words.get("old") === "") return undefined;
  const unclear = (["old", "new"] as const).some(
    (group) => !words.quoted(group) && /\s(?:with|by|to|into|in)\s/i.test(words.get(group)),
  );
  if (unclear)
    return { hint: `Put both texts in quotes: replace "old text" with "new text" in ${words.get("path")}` };
  const all = words.has("all") || words.has("everywhere") || words.has("also");
  return {
    tool: "edit_file",
    args: {
      path: words.get("path"),
      old_text: words.get("old"),
      new_text: words.get("new"),
      ...(all && { replace_all: true }),
    },
  };
}

function mkdir(words: Words): PlannedCall | undefined {
  return isPath(words, "path") ? { tool: "mkdir", args: { path: words.get("path") } } : undefined;
}

function move(words: Words): PlannedCall | undefined {
  if (!isPath(words, "source") || !isPath(words, "destination")) return undefined;
  return {
    tool: "move",
    args: {
      source: words.get("source"),
      destination: words.get("destination"),
      ...(words.has("overwrite") && { overwrite: true }),
    },
  };
}
