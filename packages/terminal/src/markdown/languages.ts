/** The highlighter's data about a language: enough to distinguish words, strings and comments. */
export interface Language {
  readonly keywords: ReadonlySet<string>;
  /** The tokens that start a line comment. */
  readonly lineComments: readonly string[];
  readonly blockComment?: readonly [open: string, close: string];
  /** Quotes, longest first. Those in `multiline` may span lines. */
  readonly quotes: readonly string[];
  readonly multiline: readonly string[];
  /** Whether a quoted name before a colon is a key rather than a value. */
  readonly keys?: boolean;
  /** Whether keywords are case-insensitive. */
  readonly anyCase?: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const C_STYLE = {
  lineComments: ["//"],
  blockComment: ["/*", "*/"],
  quotes: ['"', "'"],
  multiline: [],
} as const satisfies Omit<Language, "keywords">;

const HASH_STYLE = { lineComments: ["#"], quotes: ['"', "'"], multiline: ['"', "'"] } as const;

const SCRIPT: Language = {
  ...C_STYLE,
  quotes: ['"', "'", "`"],
  multiline: ["`"],
  keywords: words(
    "abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number object of private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined unknown var void while with yield",
  ),
};

const C: Language = {
  ...C_STYLE,
  keywords: words(
    "alignas auto bool break case catch char class concept const constexpr continue default delete do double else enum explicit export extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected public register requires return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while #include #define #ifdef #ifndef #endif #if #else #pragma",
  ),
};

const JAVA: Language = {
  ...C_STYLE,
  quotes: ['"""', '"', "'"],
  multiline: ['"""'],
  keywords: words(
    "abstract as assert async await base bool boolean break byte case catch char class companion const continue data decimal default delegate do double else enum event explicit extends external false final finally fixed float for foreach fun goto if implements implicit import in init int interface internal is it lateinit lock long namespace native new null object operator out override package params private protected public readonly record ref return sealed short static string struct super suspend switch synchronized this throw throws transient true try typealias typeof uint ulong unsafe using val var virtual void volatile when where while yield",
  ),
};

const PYTHON: Language = {
  lineComments: ["#"],
  quotes: ['"""', "'''", '"', "'"],
  multiline: ['"""', "'''"],
  keywords: words(
    "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
  ),
};

const SHELL: Language = {
  ...HASH_STYLE,
  keywords: words(
    "alias break case cd continue declare do done echo elif else esac eval exec exit export fi for function if in let local read readonly return select set shift source test then trap unset until while RUN FROM COPY ENV ARG CMD ENTRYPOINT WORKDIR EXPOSE USER VOLUME",
  ),
};

const RUBY: Language = {
  ...HASH_STYLE,
  keywords: words(
    "alias and begin break case class def defmodule defp do else elsif end ensure false for if in include loop module my next nil not or our print private raise redo require rescue retry return self sub super then true unless until use when while yield",
  ),
};

const GO: Language = {
  ...C_STYLE,
  quotes: ['"', "'", "`"],
  multiline: ["`"],
  keywords: words(
    "any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 interface iota len make map nil package range return rune select string struct switch true type uint var",
  ),
};

const RUST: Language = {
  ...C_STYLE,
  // A single quote may start a lifetime, which has no closing quote.
  quotes: ['"'],
  multiline: ['"'],
  keywords: words(
    "as associatedtype async await bool box break case const continue crate defer deinit dyn else enum extension extern f64 false fileprivate fn for func guard i32 i64 if impl import in init inout internal is let loop match mod move mut nil open override private protocol pub public ref repeat return self Self static str String struct super switch throw trait true try type u32 u64 u8 unsafe use usize var where while",
  ),
};

const SQL: Language = {
  lineComments: ["--"],
  blockComment: ["/*", "*/"],
  quotes: ["'", '"'],
  multiline: ["'"],
  anyCase: true,
  keywords: words(
    "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then true union unique update using values view when where with",
  ),
};

const LUA: Language = {
  lineComments: ["--"],
  quotes: ['"', "'"],
  multiline: [],
  keywords: words(
    "and break do else elseif end false for function goto if in local nil not or repeat return then true until while where data deriving import instance let module newtype of type class case qualified",
  ),
};

const JSON_LIKE: Language = {
  lineComments: ["//"],
  blockComment: ["/*", "*/"],
  quotes: ['"'],
  multiline: [],
  keys: true,
  keywords: words("true false null"),
};

const YAML: Language = {
  ...HASH_STYLE,
  multiline: [],
  keys: true,
  keywords: words("true false null yes no on off"),
};

const CSS: Language = {
  ...C_STYLE,
  keys: true,
  keywords: words("@media @import @font-face @keyframes @supports @layer @use @mixin @include !important"),
};

const MARKUP: Language = {
  lineComments: [],
  blockComment: ["<!--", "-->"],
  quotes: ['"', "'"],
  multiline: [],
  keywords: words(""),
};

const NAMES: Readonly<Record<string, Language>> = {
  ...named(SCRIPT, "js javascript jsx mjs cjs ts typescript tsx mts cts vue svelte"),
  ...named(C, "c h cpp c++ cc cxx hpp objc objective-c proto glsl"),
  ...named(JAVA, "java kotlin kt kts cs csharp c# scala groovy gradle dart php"),
  ...named(PYTHON, "py python python3 pyi starlark bzl"),
  ...named(
    SHELL,
    "sh bash shell zsh fish console shellsession dockerfile docker makefile make ps1 powershell env",
  ),
  ...named(RUBY, "rb ruby ex elixir exs perl pl r crystal nix"),
  ...named(GO, "go golang"),
  ...named(RUST, "rs rust swift zig"),
  ...named(SQL, "sql postgres postgresql mysql sqlite plsql"),
  ...named(LUA, "lua haskell hs"),
  ...named(JSON_LIKE, "json jsonc json5 jsonl ndjson"),
  ...named(YAML, "yaml yml toml ini conf properties hcl tf terraform"),
  ...named(CSS, "css scss sass less"),
  ...named(MARKUP, "html xml svg htm xhtml"),
};

function named(language: Language, names: string): Record<string, Language> {
  return Object.fromEntries(names.split(" ").map((name) => [name, language]));
}

/** The language named after a code fence, if known: `ts title="a.ts"`. */
export function findLanguage(info: string): Language | undefined {
  const name = (/^[\w+#-]+/.exec(info.trim())?.[0] ?? "").toLowerCase();
  return Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
}
