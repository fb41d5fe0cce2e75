import type { Element } from "./tree.js";

export interface Rendered {
  readonly text: string;
  readonly hasHeading: boolean;
  /** Images without a description, which are left out. */
  readonly images: number;
  /** Whether every link is written with its address. */
  readonly hasAllLinks: boolean;
}

const BLOCKS = new Set(
  "address article aside body center details div dl fieldset figcaption figure footer form header hgroup li main nav p section summary".split(
    " ",
  ),
);
// Deeper lists and quotes are not indented further, so that a line never consists of indentation.
const MAX_INDENT = 8;
// A table that is wider, or whose cells are longer, is a layout table without data.
const MAX_COLUMNS = 40;
const MAX_CELL = 2000;
// Further links are written as text: resolving hundreds of thousands takes seconds, and with a long base address each
// short link of a page becomes kilobytes.
const MAX_LINKS = 20_000;
const MAX_LINK_CHARACTERS = 4_000_000;
// Code that would get more indentation than this in all its lines is not indented.
const MAX_INDENTATION = 1_000_000;
const LANGUAGE_CLASS = /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s?)([\w+#.]{1,30})/i;
/** Languages that highlighters write as a plain class: `class="python hljs"`, `class="rust"`. */
const BARE_LANGUAGE =
  /(?:^|\s)(bash|c|cpp|csharp|css|go|html|java|javascript|js|json|kotlin|php|python|ruby|rust|scala|sh|shell|sql|swift|toml|ts|typescript|xml|yaml)(?=\s|$)/i;
const NO_LANGUAGE = new Set(["default", "none", "text", "plaintext", "source"]);
const LINE_NUMBERS = /(?:^|\s)(?:lineno|linenos|line-?numbers?|gutter)(?:\s|$)/i;

/** Writes an element as Markdown. Time is linear in the size of the page. */
export function toMarkdown(root: Element, resolve: (href: string) => string | undefined): Rendered {
  const renderer = new Renderer(resolve);
  renderer.children(root);
  const { hasHeading, images, hasAllLinks } = renderer;
  return { text: renderer.writer.take(), hasHeading, images, hasAllLinks };
}

/**
 * Collects text. Whitespace collapses as in HTML; breaks between blocks and the markup of emphasis and links are
 * written only when text follows.
 */
class Writer {
  #text = "";
  #prefixes: string[] = [];
  /** The start of the next line instead of the innermost prefix: the bullet of a list item. */
  #bullet: string | undefined;
  /** Line breaks before the next text. */
  #breaks = 0;
  #isEmpty = true;
  #space = false;
  #opening: string[] = [];
  /** Above 0 if blocks follow each other on one line: in a link, a heading, a cell. */
  oneLine: number;

  constructor(oneLine = 0) {
    this.oneLine = oneLine;
  }

  /** The text so far. The writer is empty afterwards. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    this.#isEmpty = true;
    this.#space = false;
    this.#breaks = 0;
    this.#opening = [];
    return text;
  }

  text(text: string): void {
    if (isBlank(text, 0)) this.#space = true;
    const body = text.trim();
    if (body === "") return;
    this.#start();
    // Most text needs no change, and replacing every blank of a long line takes seconds.
    this.#text += /[\t\n\r\f]| {2}/.test(body) ? body.replace(/[ \t\n\r\f]+/g, " ") : body;
    this.#space = isBlank(text, text.length - 1);
  }

  /** Text in which every character matters, on one line. */
  verbatim(text: string): void {
    this.#start();
    this.#text += text;
  }

  /** Preformatted lines. Written in one piece: a page can have millions of them. */
  lines(lines: readonly string[]): void {
    this.breakLine();
    this.#start();
    const prefix = this.#linePrefix();
    this.#text += lines.join(prefix.length * lines.length > MAX_INDENTATION ? "\n" : `\n${prefix}`);
  }

  #start(): void {
    if (this.#isEmpty || this.#breaks > 0) {
      if (!this.#isEmpty) {
        if (this.#breaks > 1) this.#text += this.#prefixes.length === 0 ? "\n" : `\n${this.#emptyLine()}`;
        this.#text += "\n";
      }
      this.#text += this.#linePrefix();
    } else if (this.#space) {
      this.#text += " ";
    }
    this.#isEmpty = false;
    this.#breaks = 0;
    this.#space = false;
    if (this.#opening.length > 0) {
      this.#text += this.#opening.join("");
      this.#opening = [];
    }
  }

  /** The start of a blank line inside of quotes. */
  #emptyLine(): string {
    const quotes = this.#prefixes.slice(0, MAX_INDENT).filter((prefix) => prefix === "> ");
    return quotes.join("").trimEnd();
  }

  #linePrefix(): string {
    if (this.#prefixes.length === 0) return "";
    const bullet = this.#bullet;
    this.#bullet = undefined;
    const shown = this.#prefixes.slice(0, MAX_INDENT);
    return bullet === undefined ? shown.join("") : shown.slice(0, -1).join("") + bullet;
  }

  breakLine(): void {
    if (this.oneLine > 0) this.#space = true;
    else this.#breaks = Math.max(this.#breaks, 1);
  }

  block(): void {
    if (this.oneLine > 0) this.#space = true;
    else this.#breaks = 2;
  }

  /** Begins lines with a prefix, the first one with `bullet` instead. */
  indent(prefix: string, bullet?: string): void {
    this.#prefixes.push(prefix);
    if (bullet !== undefined) this.#bullet = bullet;
  }

  outdent(): void {
    // An empty item must not leave its bullet to the next text.
    this.#bullet = undefined;
    this.#prefixes.pop();
  }

  /** Writes an opening mark before the next text. Returns the argument for `close`. */
  open(mark: string): number {
    this.#opening.push(mark);
    return this.#text.length;
  }

  /** Writes the closing mark, or neither if there was no text since `open`. */
  close(opened: number, mark: string): void {
    if (this.#text.length > opened) this.#text += mark;
    else this.#opening.pop();
  }
}

class Renderer {
  writer = new Writer();
  /** A cell is rendered separately from its table. Cells of data contain no tables. */
  readonly #cellWriter = new Writer(1);
  readonly #resolveUrl: (href: string) => string | undefined;
  hasHeading = false;
  images = 0;
  hasAllLinks = true;
  #lists = 0;
  #isInLink = false;
  #language = "";
  #links = 0;
  #linkCharacters = 0;

  constructor(resolve: (href: string) => string | undefined) {
    this.#resolveUrl = resolve;
  }

  children(element: Element): void {
    const { writer } = this;
    if (element.text !== "") writer.text(element.text);
    for (let child = element.first; child; child = child.next) {
      if (!child.isSkipped) this.#element(child);
      if (child.tail !== "") writer.text(child.tail);
    }
  }

  #element(element: Element): void {
    const { name, attributes } = element;
    const { writer } = this;
    if (BLOCKS.has(name)) {
      this.#block(element);
      return;
    }
    switch (name) {
      case "h1":
      case "h2":
      case "h3":
      case "h4":
      case "h5":
      case "h6":
        this.#heading(element, Number(name[1]));
        break;
      case "strong":
      case "b":
        this.#marked(element, "**", "**");
        break;
      case "em":
      case "i":
        this.#marked(element, "*", "*");
        break;
      case "del":
      case "s":
        this.#marked(element, "~~", "~~");
        break;
      case "br":
        writer.breakLine();
        break;
      case "hr":
        writer.block();
        if (writer.oneLine === 0) writer.lines(["---"]);
        writer.block();
        break;
      case "a":
        this.#link(element);
        break;
      case "img":
        this.#image(element);
        break;
      case "code":
      case "kbd":
      case "samp":
      case "tt":
        this.#inlineCode(element);
        break;
      case "pre":
        this.#codeBlock(element);
        break;
      case "ul":
      case "ol":
      case "menu":
        this.#list(element);
        break;
      case "blockquote":
        writer.block();
        writer.indent("> ");
        this.children(element);
        writer.outdent();
        writer.block();
        break;
      case "table":
        this.#table(element);
        break;
      case "dt":
        writer.block();
        this.children(element);
        writer.breakLine();
        break;
      case "dd":
        writer.breakLine();
        writer.indent("  ", ": ");
        this.children(element);
        writer.outdent();
        break;
      case "math":
        if (attributes?.alttext) writer.text(attributes.alttext);
        else this.children(element);
        break;
      case "q":
        this.#marked(element, "“", "”");
        break;
      case "td":
      case "th":
      case "tr":
      case "option":
        writer.breakLine();
        this.children(element);
        writer.breakLine();
        break;
      case "annotation":
      case "input":
        break;
      default:
        this.children(element);
    }
  }

  #marked(element: Element, open: string, close: string): void {
    const { writer } = this;
    const opened = writer.open(open);
    this.children(element);
    writer.close(opened, close);
  }

  #block(element: Element): void {
    // Sphinx and GitHub name the language on an element around the code.
    const language = this.#language;
    this.#language = classLanguage(element) || language;
    this.writer.block();
    this.children(element);
    this.writer.block();
    this.#language = language;
  }

  #heading(element: Element, level: number): void {
    const { writer } = this;
    this.hasHeading ||= level === 1;
    writer.block();
    const isBlock = writer.oneLine === 0;
    writer.oneLine++;
    if (isBlock) this.#marked(element, `${"#".repeat(level)} `, "");
    else this.children(element);
    writer.oneLine--;
    writer.block();
  }

  #link(element: Element): void {
    const href = element.attributes?.href;
    const target = href === undefined || this.#isInLink ? undefined : this.#resolve(href);
    if (target === undefined) {
      // The symbol next to a heading that links to the heading itself.
      if (!href?.startsWith("#") || textOf(element).trim().length > 1) this.children(element);
      return;
    }
    const { writer } = this;
    this.#isInLink = true;
    writer.oneLine++;
    this.#marked(element, "[", `](${target})`);
    writer.oneLine--;
    this.#isInLink = false;
  }

  /**
   * The absolute URL of a link, or `undefined` for one that does not lead to another page: a fragment, a script, a mail
   * address.
   */
  #resolve(href: string): string | undefined {
    if (href.startsWith("#") || href.length > 4000) return undefined;
    if (this.#links++ > MAX_LINKS || this.#linkCharacters > MAX_LINK_CHARACTERS) {
      this.hasAllLinks = false;
      return undefined;
    }
    const url = this.#resolveUrl(href);
    if (url === undefined) return undefined;
    this.#linkCharacters += url.length;
    const hash = href.indexOf("#");
    const fragment = hash === -1 ? "" : href.slice(hash).replace(/\s/g, "%20");
    return (url + fragment).replace(/[()<]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  }

  #image({ attributes: { alt, src } = {} }: Element): void {
    const text = alt?.replace(/\s+/g, " ").trim();
    if (!text) {
      this.images++;
      return;
    }
    const url = src === undefined || this.#isInLink ? undefined : this.#resolve(src);
    this.writer.text(url === undefined ? text : `![${escapeBrackets(text)}](${url})`);
  }

  #inlineCode(element: Element): void {
    const code = textOf(element).replace(/\s+/g, " ");
    if (code.trim() === "") {
      this.writer.text(" ");
      return;
    }
    const fence = "`".repeat(longestRun(code) + 1);
    const pad = code.startsWith("`") || code.endsWith("`") ? " " : "";
    this.writer.verbatim(`${fence}${pad}${code.trim()}${pad}${fence}`);
  }

  #codeBlock(element: Element): void {
    const { writer } = this;
    const code = textOf(element, true).replace(/\r\n?/g, "\n").replace(/^\n/, "").trimEnd();
    if (code === "") return;
    if (writer.oneLine > 0) {
      writer.text(code);
      return;
    }
    const fence = "`".repeat(Math.max(3, longestRun(code) + 1));
    writer.block();
    writer.lines([fence + (languageOf(element) || this.#language), ...code.split("\n"), fence]);
    writer.block();
  }

  #list(element: Element): void {
    const { writer } = this;
    if (writer.oneLine > 0) {
      this.children(element);
      return;
    }
    if (this.#lists === 0) writer.block();
    this.#lists++;
    const isOrdered = element.name === "ol";
    let number = Number.parseInt(element.attributes?.start ?? "1", 10);
    if (!Number.isSafeInteger(number)) number = 1;
    for (let child = element.first; child; child = child.next) {
      if (child.isSkipped) continue;
      writer.breakLine();
      if (child.name !== "li") {
        this.#element(child);
        continue;
      }
      const bullet = isOrdered ? `${number++}. ` : "- ";
      const lists = this.#lists;
      writer.indent(" ".repeat(bullet.length), bullet);
      this.children(child);
      writer.outdent();
      this.#lists = lists;
    }
    this.#lists--;
    if (this.#lists === 0) writer.block();
    else writer.breakLine();
  }

  #table(element: Element): void {
    const { writer } = this;
    const rows = writer.oneLine > 0 ? undefined : rowsOf(element);
    if (rows === undefined) {
      this.#block(element);
      return;
    }
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    const lines = rows.map((row) => {
      const cells = row.map((cell) => (cell ? this.#cell(cell) : ""));
      return `| ${cells.join(" | ")} |${"  |".repeat(width - row.length)}`;
    });
    lines.splice(1, 0, `|${" --- |".repeat(width)}`);
    writer.block();
    writer.lines(lines);
    writer.block();
  }

  #cell(element: Element): string {
    const { writer } = this;
    this.writer = this.#cellWriter;
    this.children(element);
    this.writer = writer;
    const text = this.#cellWriter.take();
    return text.replaceAll("|", "\\|").replace(/\s*\n\s*/g, " ");
  }
}

/** The cells of a data table. `undefined` for a layout table. */
function rowsOf(table: Element): (Element | undefined)[][] | undefined {
  if (table.attributes?.role === "presentation") return undefined;
  const rows: (Element | undefined)[][] = [];
  const isData = collectRows(table, rows) && rows.some((row) => row.length > 1);
  return isData ? rows : undefined;
}

/** Returns whether there are only rows of short cells. */
function collectRows(parent: Element, rows: (Element | undefined)[][]): boolean {
  for (let child = parent.first; child; child = child.next) {
    if (child.isSkipped) continue;
    switch (child.name) {
      case "thead":
      case "tbody":
      case "tfoot":
        if (!collectRows(child, rows)) return false;
        break;
      case "caption":
      case "colgroup":
      case "col":
        break;
      case "tr": {
        const row = cellsOf(child);
        if (row === undefined) return false;
        if (row.length > 0) rows.push(row);
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

function cellsOf(tr: Element): (Element | undefined)[] | undefined {
  const row: (Element | undefined)[] = [];
  for (let cell = tr.first; cell; cell = cell.next) {
    if (cell.isSkipped) continue;
    if ((cell.name !== "td" && cell.name !== "th") || !isShort(cell)) return undefined;
    row.push(cell);
    const span = Math.min(Number.parseInt(cell.attributes?.colspan ?? "1", 10) || 1, MAX_COLUMNS);
    for (let more = 1; more < span; more++) row.push(undefined);
    if (row.length > MAX_COLUMNS) return undefined;
  }
  return row;
}

/** Whether a cell fits into a row: no table, code block or long text. */
function isShort(cell: Element): boolean {
  return cell.visible <= MAX_CELL && !hasBlocks(cell);
}

function hasBlocks(element: Element): boolean {
  for (let child = element.first; child; child = child.next)
    if (child.name === "table" || child.name === "pre" || hasBlocks(child)) return true;
  return false;
}

/** The verbatim text of an element. */
function textOf(element: Element, isCode = false): string {
  let text = element.text;
  for (let child = element.first; child; child = child.next) {
    if (child.name === "br") text += "\n";
    else if (!isCode || !LINE_NUMBERS.test(child.attributes?.class ?? "")) text += textOf(child, isCode);
    text += child.tail;
  }
  return text;
}

/** The language of a code block, from the classes that highlighters use, on the block or on the `<code>` inside it. */
function languageOf(element: Element): string {
  const code = element.first;
  for (const one of code?.name === "code" ? [code, element] : [element]) {
    const named = one.attributes?.["data-lang"] ?? one.attributes?.["data-language"];
    if (named !== undefined && /^[\w+#.-]{1,30}$/.test(named)) return named;
    const found = classLanguage(one) || (BARE_LANGUAGE.exec(one.attributes?.class ?? "")?.[1] ?? "");
    if (found !== "") return found;
  }
  return "";
}

function classLanguage({ attributes }: Element): string {
  const names = attributes?.class;
  const found = names === undefined || !/[-:]/.test(names) ? undefined : LANGUAGE_CLASS.exec(names)?.[1];
  return found === undefined || NO_LANGUAGE.has(found.toLowerCase()) ? "" : found;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  return longest;
}

function escapeBrackets(text: string): string {
  return text.replace(/[[\]]/g, "\\$&");
}

/** Whether a character is white space of HTML. */
function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
}
