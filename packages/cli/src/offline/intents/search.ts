import { optionalDirectory, optionalPlaces, path, rule, text } from "../grammar.js";
import { isFurtherPath, isPath, looksLikeFile, looksLikePath } from "../paths.js";
import { QUOTE_MARKS, QUOTED } from "../quotes.js";
import type { Declined, PlannedCall, RequestRule, Words } from "../types.js";

const FIND = "(?:find|list|show|get|locate|search(?: for)?|look for)(?: me)?(?: all)?(?: of)?(?: the)?";
const ANY_CASE = ",? (?:ignoring (?:the )?case|case[- ]insensitive(?:ly)?|in any case)";
const CASE = `(?<insensitive>${ANY_CASE})?`;
/** Where to look, and that upper and lower case are the same, in either order. */
const WHERE = `(?<insensitiveFirst>${ANY_CASE})?${optionalPlaces("path")}${CASE}`;
const FILES_THAT = "(?:find|list|show)(?: me)?(?: all)?(?: of)?(?: the)? files";
const TERM = "(?: the)?(?: (?:text|word|string|phrase|term))?";
const GLOB = `(?<glob>${QUOTED}|[^\\s${QUOTE_MARKS}]*[*][^\\s${QUOTE_MARKS}]*)`;

const MOST_COUNTED = 10_000;

// How people call the files of a language, where that differs from the extension.
const LANGUAGES: Readonly<Record<string, string>> = {
  typescript: "{ts,tsx,mts,cts}",
  javascript: "{js,jsx,mjs,cjs}",
  python: "py",
  markdown: "md",
  rust: "rs",
  ruby: "rb",
  shell: "sh",
  text: "txt",
  yaml: "{yml,yaml}",
  image: "{png,jpg,jpeg,gif,svg,webp}",
};
const EXTENSIONS = new Set(
  "ts tsx js jsx mjs cjs json md txt py rs go java c h cpp hpp css scss html xml yml toml sh sql csv log svg png jpg lock php kt swift vue rb".split(
    " ",
  ),
);

export const SEARCH_FILES_RULES: readonly RequestRule[] = [
  rule(
    `${FIND}(?: files?(?: (?:named|called|matching|like))?)? ${GLOB}(?: files?)?${optionalDirectory("path")}`,
    (words) => (words.get("glob").includes("*") ? files(words, anywhere(words.get("glob"))) : undefined),
  ),
  rule(`${FIND} (?<kind>\\.?[a-z0-9]+)(?: source)? files?${optionalDirectory("path")}`, (words) => {
    const ending = extension(words.get("kind"));
    return ending === undefined ? undefined : files(words, `**/*.${ending}`);
  }),
  rule(
    `${FIND} files? (?:ending (?:in|with|on)|with(?: the)? (?:extension|ending)) ${path("kind")}${optionalDirectory("path")}`,
    (words) => files(words, `**/*.${words.get("kind").replace(/^\*?\./, "")}`),
  ),
  rule(
    `(?:which|what|how (?<many>many)) files?(?: here)?(?: are there)?(?: that)? (?:end (?:in|with|on)|ending (?:in|with|on)|have(?: the)? (?:extension|ending)|with(?: the)? (?:extension|ending)) ${path("kind")}(?: are there)?${optionalDirectory("path")}`,
    (words) => counted(words, files(words, `**/*.${words.get("kind").replace(/^\*?\./, "")}`), "files"),
  ),
  rule(
    `(?:which|what|how (?<many>many)) (?<kind>\\.?[a-z0-9]+)(?: source)? files?(?: (?:are there|are|do (?:i|we|you) have|exist))?(?: there)?${optionalDirectory("path")}`,
    (words) => {
      const ending = extension(words.get("kind"));
      return ending === undefined ? undefined : counted(words, files(words, `**/*.${ending}`), "files");
    },
  ),
  rule(
    `(?:how many|count(?: all)?(?: of)?(?: the)?) files?(?: (?:are there|are|do (?:i|we|you) have|exist))?(?: there)?${optionalDirectory("path")}`,
    (words) => count(files(words, "**/*"), "files"),
  ),
  rule(
    `count(?: all)?(?: of)?(?: the)? (?<kind>\\.?[a-z0-9]+)(?: source)? files?${optionalDirectory("path")}`,
    (words) => {
      const ending = extension(words.get("kind"));
      return ending === undefined ? undefined : count(files(words, `**/*.${ending}`), "files");
    },
  ),
  rule(
    `${FIND} files? (?:that )?(?:start|starting|starts|begin|beginning|begins) with ${path("start")}${optionalDirectory("path")}`,
    (words) => (isPath(words, "start") ? files(words, `**/${words.get("start")}*`) : undefined),
  ),
  rule(`(?:which|what) files? (?:start|begin) with ${path("start")}${optionalDirectory("path")}`, (words) =>
    isPath(words, "start") ? files(words, `**/${words.get("start")}*`) : undefined,
  ),
  rule(
    `(?:is there|do (?:i|we|you) have|are there)(?: an?| any)? (?<named>files? (?:named|called) )?${path("name")}(?: files?)?(?: anywhere)?${optionalDirectory("path")}(?: anywhere)?`,
    (words) => {
      const ending = extension(words.get("name"));
      if (looksLikeFile(words.get("name"))) return files(words, anywhere(words.get("name")));
      if (words.has("named"))
        return isPath(words, "name") ? files(words, anywhere(`${words.get("name")}*`)) : undefined;
      return ending === undefined ? undefined : files(words, `**/*.${ending}`);
    },
  ),
  rule(
    `(?:find|search for|look for|locate|get)(?: me)?(?: all)?(?: the)?(?: a)? (?:file|folder|directory|files)(?: (?:named|called|with the name))? ${path("name")}${optionalDirectory("path")}`,
    (words) => (isPath(words, "name") ? files(words, anywhere(words.get("name"))) : undefined),
  ),
  rule(
    `(?:find|locate|where is|where's|where are)(?: the)?(?: file)? ${path("name")}${optionalDirectory("path")}`,
    (words) => (looksLikeFile(words.get("name")) ? files(words, anywhere(words.get("name"))) : undefined),
  ),
];

export const SEARCH_TEXT_RULES: readonly RequestRule[] = [
  rule(`grep(?: -[a-z]+)* ${path("query")} ${path("path")}`, (words) =>
    words.get("query").toLowerCase() === "for" ? undefined : matches(words),
  ),
  rule(
    `(?:search|grep|look)(?: for)?(?: the)? (?:regex|regexp|regular expression|pattern) ${text("query")}${WHERE}`,
    (words) => matches(words, { regex: true }),
  ),
  rule(
    `(?:search|look)(?: in| through)?(?: the)?(?: (?:directory|folder|file))? ${path("path")}(?: (?:directory|folder))? for${TERM} ${text("query")}${CASE}`,
    matches,
  ),
  rule(`(?:(?:search|grep)(?: for)?|look (?:for|up))${TERM} ${text("query")}${WHERE}`, matches),
  rule(
    `find(?: all)?(?: the)?(?: (?:occurrences|uses|usages|mentions|references|instances|lines|places))(?: (?:of|to|with|containing|that (?:contain|mention|use)))${TERM} ${text("query")}${WHERE}`,
    matches,
  ),
  rule(
    `(?:${FILES_THAT} (?:containing|with|that (?:contain|mention|use|include|have))|(?:which|what|how (?<many>many))(?: of the)? files (?:contain|mention|use|include|have|import|refer to|reference))${TERM} ${text("query")}(?: in (?:it|them))?${WHERE}`,
    (words) => counted(words, matches(words, { filesOnly: true }), "files"),
  ),
  rule(
    `(?:how many|count(?: all)?(?: the)?) (?:lines?|times|places|matches)(?: (?:that )?(?:mention|contain|have|use|include|mentioning|containing|with|for|of|where|(?:is|are)|does|do))${TERM} ${text("query")}(?: (?:appears?|occurs?|used|mentioned|there))?${WHERE}`,
    (words) => count(matches(words), "lines"),
  ),
  rule(`(?:which|what) lines (?:mention|contain|have|use|include)${TERM} ${text("query")}${WHERE}`, matches),
  rule(
    `(?:is|are)(?: there)?(?: any)?${TERM} ${text("query")} (?:used|mentioned|called|imported|referenced) (?:anywhere|somewhere)${WHERE}`,
    matches,
  ),
  rule(
    `(?:is there|are there|do (?:i|we) have)(?: any| an?)? (?<query>TODO|FIXME|XXX|HACK)s?(?: comments?)?(?: left)?(?: anywhere)?${WHERE}`,
    (words) => matches(words),
  ),
  rule(
    `(?:show|list|give|tell)(?: me)?(?: all)?(?: of)?(?: the)? (?:lines|places|occurrences|mentions|uses|usages|matches)(?: (?:of|for|with|containing|where|that (?:mention|contain|use|have)))${TERM} ${text("query")}${WHERE}`,
    matches,
  ),
  rule(`who (?:uses|calls|imports|mentions|references)${TERM} ${text("query")}${WHERE}`, matches),
  rule(
    `(?:(?:find|show|tell)(?: me| out)? )?where (?:do|does) (?:we|i|you|they|it|the code) (?:use|call|import|mention|define|reference|set)${TERM} ${text("query")}${WHERE}`,
    matches,
  ),
  rule(
    `(?:(?:find|show|tell)(?: me| out)? )?where${TERM} ${text("query")} (?:appears?|occurs?|(?:is|are) (?:used|mentioned|defined|called|imported|referenced|set))${WHERE}`,
    matches,
  ),
  rule(
    `(?:does|do)(?: the)?(?: file| folder)? ${path("path")} (?:mention|contain|have|use|include|import|reference)${TERM} ${text("query")}`,
    (words) => (looksLikePath(words, "path") ? matches(words) : undefined),
  ),
  rule(
    `where (?:is|are)${TERM} ${text("query")} (?:used|mentioned|defined|called|imported|referenced)${optionalDirectory("path")}`,
    matches,
  ),
  rule(
    `find(?: all)?${TERM} ${text("query")} in(?: the)?(?: (?:directory|folder|file))? ${path("path")}(?: (?:directory|folder))?${CASE}`,
    (words) => (/^(?:all |the )?files?$/i.test(words.get("query")) ? undefined : matches(words)),
  ),
];

function files(words: Words, pattern: string): PlannedCall | undefined {
  if (words.has("path") && !isPath(words, "path")) return undefined;
  return { tool: "search_files", args: { pattern, ...(words.has("path") && { path: words.get("path") }) } };
}

interface Extra {
  readonly regex?: boolean;
  /** Only the names of the files, not the lines. */
  readonly filesOnly?: boolean;
}

/**
 * Without quotes, an "and", or an "in" without a path, makes it ambiguous where the text ends: decline instead of
 * guessing.
 */
function matches(words: Words, extra: Extra = {}): PlannedCall | Declined | undefined {
  const query = words.get("query");
  if (query === "" || (words.has("path") && !isPath(words, "path"))) return undefined;
  // People also say this about the internet, which the offline assistant cannot search.
  if (!words.quoted("query") && /\b(?:web|internet|online|google)\b/i.test(query)) return undefined;
  if (!words.quoted("query") && /\s(?:in|under|inside|within|everywhere|anywhere|and)\s/i.test(query)) {
    return {
      hint: 'Put the text in quotes, and a path with blanks too: search for "some text" in "my notes"',
    };
  }
  const further = ["path2", "path3"].filter((group) => words.has(group));
  if (!further.every((group) => isFurtherPath(words, group))) return undefined;
  return {
    tool: "search_text",
    args: {
      query,
      paths: [words.get("path") || ".", ...further.map((group) => words.get(group))],
      ...(extra.regex && { regex: true }),
      ...(extra.filesOnly && { files_only: true }),
      ...((words.has("insensitive") || words.has("insensitiveFirst")) && { ignore_case: true }),
    },
  };
}

/** Makes a call report the number of its results, with a very high cap. */
function count<Call extends PlannedCall | Declined | undefined>(
  call: Call,
  what: "lines" | "files",
): PlannedCall | Call {
  if (!call || !("tool" in call)) return call;
  return { ...call, args: { ...call.args, max_results: MOST_COUNTED }, count: what };
}

/** As `count`, where the sentence asked "how many". */
function counted<Call extends PlannedCall | Declined | undefined>(
  words: Words,
  call: Call,
  what: "lines" | "files",
): PlannedCall | Call {
  return words.has("many") ? count(call, what) : call;
}

/** A name without a directory is looked for at any depth. */
function anywhere(pattern: string): string {
  return pattern.includes("/") ? pattern : `**/${pattern}`;
}

function extension(kind: string): string | undefined {
  const name = kind.toLowerCase();
  if (name.startsWith(".")) return name.slice(1);
  if (Object.hasOwn(LANGUAGES, name)) return LANGUAGES[name];
  return EXTENSIONS.has(name) ? name : undefined;
}
