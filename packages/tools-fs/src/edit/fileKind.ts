import type { CodeKind } from "./code.js";
import type { LiteralFinder } from "./literals.js";

/** What the path of a file says about its content. */
export interface FileKind extends CodeKind {
  /** Prose, in which any text may be meant. */
  readonly isDocument: boolean;
  readonly isMarkup: boolean;
  /** Data, in which prose needs no quotes. */
  readonly isData: boolean;
  /** A language in which backslashes and typographic characters have no meaning outside of strings and comments. */
  readonly isPlainCode: boolean;
  /** Another language in which strings have straight quotes. */
  readonly isOtherCode: boolean;
  /** A language in which indentation has a meaning. */
  readonly isIndented: boolean;
  /** The edit is inside a string of several lines, in which any text may be meant. */
  readonly isInLiteral: boolean;
  /** The mark of the string of several lines in which the edit begins; empty if it begins in none. */
  readonly mark: string;
}

const DOCUMENT =
  /\.(patch|diff|md|mdx|mdc|[rq]md|markdown|txt|text|rst|adoc|asciidoc|org|tex|textile)$|(^|[\\/])(README|LICENSE|NOTICE|CHANGELOG|TODO)$/i;
const MARKUP =
  /\.(html?|xhtml|xml|svg|vue|svelte|astro|jsx|tsx|rss|plist|xaml|csproj|erb|ejs|hbs|mustache|liquid|twig|njk|jinja2?|j2|jsp|cshtml|razor|heex)$/i;
/** A tag where an expression or a line begins, in JavaScript. */
const JSX = /^[ \t]*<\/?[\w.]*>|(?:return|=>|\() ?<[\w>]/m;
const DATA = /\.(ya?ml|toml|ini|properties|env|pot?|strings|csv|tsv)$/i;
/** Languages in which a backslash has a meaning only in strings, regular expressions and comments. */
const PLAIN_CODE = /\.([cm]?[jt]sx?|pyi?|java|kts?|go|rs|c|h|cc|cpp|hpp|cs|swift|scala|dart|vue|svelte)$/i;
/** Other languages, in which typographic characters have no meaning outside of strings and comments. */
const OTHER_CODE =
  /\.(rb|sql|exs?|lua|groovy|gradle|r|jl|zig|hs|sol|proto|graphql|gql|tf|hcl|jsonc?|json5|css|scss|less)$/i;

const INDENTED = /\.(pyi?|ya?ml)$/i;
const HASHED = /\.(ya?ml|toml|pyi?|rb|sh|bash|zsh|r|jl|env|properties)$|(^|[\\/])(Dockerfile|Makefile)$/i;
const SLASHED = /\.([cm]?[jt]sx?|java|kts?|go|rs|c|h|cc|cpp|hpp|cs|swift|scala|dart)$/i;

/** What the path of a file, and the text around an edit, say about the content there. */
export function fileKind(
  text: string,
  path: string,
  { start, end }: { readonly start: number; readonly end: number },
  literalAt: LiteralFinder,
): FileKind {
  const literal = literalAt(start);
  const isInLiteral = literal !== undefined && end <= literal.end;
  const isScript = isInScript(text, path, start);
  const hasTags = /^\s*</.test(text) || (/\.[cm]?js$/i.test(path) && JSX.test(text));
  const isPlain = PLAIN_CODE.test(path) || isScript;
  return {
    isDocument: isDocument(path),
    isMarkup: !isScript && (hasTags || MARKUP.test(path)),
    comments: HASHED.test(path) ? "hash" : SLASHED.test(path) ? "slashes" : undefined,
    isData: DATA.test(path),
    isPlainCode: isPlain && !isInLiteral,
    isOtherCode: OTHER_CODE.test(path) && !isInLiteral,
    isIndented: INDENTED.test(path),
    isInLiteral: isInLiteral && isPlain,
    mark: literal?.mark ?? "",
  };
}

/** Whether the path names prose, in which any text may be meant. */
export function isDocument(path: string): boolean {
  return DOCUMENT.test(path);
}

/** Whether a position is inside a `<script>` element of markup, or between the marks of PHP. */
function isInScript(text: string, path: string, position: number): boolean {
  const isPhp = /\.(php|phtml)$/i.test(path);
  if (!isPhp && !MARKUP.test(path)) return false;
  const open = text.lastIndexOf(isPhp ? "<?" : "<script", position);
  return open !== -1 && text.lastIndexOf(isPhp ? "?>" : "</script", position) < open;
}
