import type { Element } from "./tree.js";

export interface Rendered {
  readonly text: string;
  readonly hasHeading: boolean;
  /** Images without a description, which are left out. */
  readonly images: number;
}

const BLOCKS = new Set(
  "address article aside body center details div dl fieldset figcaption figure footer form header hgroup li main nav p section summary".split(
    " ",
  ),
);
const MARKS: Readonly<Record<string, string>> = {
  strong: "**",
  b: "**",
  em: "*",
  i: "*",
  del: "~~",
  s: "~~",
};
const HEADING = /^h([1-6])$/;
// Deeper lists and quotes are not indented further, so that a line never consists of indentation.
const MAX_INDENT = 8;
// A table that is wider, or whose cells are longer, arranges a page and holds no data.
const MAX_COLUMNS = 40;
const MAX_CELL = 2000;
// Further links are written as text: resolving hundreds of thousands takes seconds.
const MAX_LINKS = 20_000;
const LANGUAGE_CLASS = /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s?)([\w+#.]{1,30})/i;
const NO_LANGUAGE = new Set(["default", "none", "text", "plaintext", "source"]);
const LINE_NUMBERS = /(?:^|\s)(?:lineno|linenos|line-?numbers?|gutter)(?:\s|$)/i;

/** Writes an element as Markdown. Time is linear in the size of the page. */
export function toMarkdown(
  root: Element,
  resolve: (href: string) => string | undefined,
  skipped: ReadonlySet<Element>,
): Rendered {
  const renderer = new Renderer(resolve, skipped);
  renderer.children(root);
  return { text: renderer.writer.finish(), hasHeading: renderer.hasHeading, images: renderer.images };
}

/**
 * Collects text. Blanks collapse as in HTML; breaks between blocks and the marks of emphasis and links are written only
 * when text follows them.
 */
class Writer {
  #text = "";
  #prefixes: string[] = [];
  /** What the next line begins with instead of the innermost prefix: the bullet of a list item. */
  #bullet: string | undefined;
  /** Line breaks before the next text. */
  #breaks = 0;
  #isEmpty = true;
  #space = false;
  #opening: string[] = [];
  /** Where blocks follow each other on one line: in a link, a heading, a cell. */
  oneLine = 0;

  finish(): string {
    return this.#text;
  }

  text(text: string): void {
    // Most text needs no change, and replacing every blank of a long line takes seconds.
    const words = /[\t\n\r\f]| {2}/.test(text) ? text.replace(/[ \t\n\r\f]+/g, " ") : text;
    const body = words.trim();
    if (words.startsWith(" ")) this.#space = true;
    if (body === "") return;
    this.#start();
    this.#text += body;
    this.#space = words.length > 1 && words.endsWith(" ");
  }

  /** Text in which every character counts, on one line. */
  verbatim(text: string): void {
    this.#start();
    this.#text += text;
  }

  /** Lines that keep their form. */
  lines(lines: readonly string[]): void {
    for (const line of lines) {
      this.breakLine();
      this.#start();
      this.#text += line;
    }
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

  /** What a blank line inside of quotes begins with. */
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

  indented(prefix: string, bullet: string | undefined, work: () => void): void {
    this.#prefixes.push(prefix);
    if (bullet !== undefined) this.#bullet = bullet;
    work();
    // An empty item leaves no bullet to the next text.
    this.#bullet = undefined;
    this.#prefixes.pop();
  }

  /** Writes `open` before and `close` after what `work` writes, or nothing if it writes nothing. */
  marked(open: string, close: string, work: () => void): void {
    const before = this.#text.length;
    this.#opening.push(open);
    work();
    if (this.#text.length > before) this.#text += close;
    else this.#opening.pop();
  }
}

class Renderer {
  readonly writer = new Writer();
  readonly #resolveUrl: (href: string) => string | undefined;
  readonly #skipped: ReadonlySet<Element>;
  hasHeading = false;
  images = 0;
  #lists = 0;
  #isInLink = false;
  #language = "";
  #links = 0;

  constructor(resolve: (href: string) => string | undefined, skipped: ReadonlySet<Element>) {
    this.#resolveUrl = resolve;
    this.#skipped = skipped;
  }

  children(element: Element): void {
    for (const child of element.children) {
      if (typeof child === "string") this.writer.text(child);
      else if (!this.#skipped.has(child)) this.#element(child);
    }
  }

  #element(element: Element): void {
    const { name, attributes } = element;
    const { writer } = this;
    const level = HEADING.exec(name)?.[1];
    const mark = MARKS[name];
    if (level !== undefined) this.#heading(element, Number(level));
    else if (mark !== undefined) this.#marked(element, mark, mark);
    else if (BLOCKS.has(name)) this.#block(element);
    else {
      switch (name) {
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
          writer.indented("> ", undefined, () => this.children(element));
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
          writer.indented("  ", ": ", () => this.children(element));
          break;
        case "math":
          if (attributes.alttext) writer.text(attributes.alttext);
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
  }

  #marked(element: Element, open: string, close: string): void {
    this.writer.marked(open, close, () => this.children(element));
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
    const { href } = element.attributes;
    const target = href === undefined || this.#isInLink ? undefined : this.#resolve(href);
    if (target === undefined) {
      // The sign next to a heading that links to the heading itself.
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

  /** The absolute URL of a link, or `undefined` for one that leads nowhere else: a fragment, a script, a mail address. */
  #resolve(href: string): string | undefined {
    if (href.startsWith("#") || href.length > 4000 || this.#links++ > MAX_LINKS) return undefined;
    const url = this.#resolveUrl(href);
    if (url === undefined) return undefined;
    const hash = href.indexOf("#");
    const fragment = hash === -1 ? "" : href.slice(hash).replace(/\s/g, "%20");
    return (url + fragment).replace(/[()<]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  }

  #image({ attributes: { alt, src } }: Element): void {
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
    let number = Number.parseInt(element.attributes.start ?? "1", 10);
    if (!Number.isSafeInteger(number)) number = 1;
    for (const child of element.children) {
      if (typeof child === "string" || this.#skipped.has(child)) continue;
      writer.breakLine();
      if (child.name !== "li") {
        this.#element(child);
        continue;
      }
      const bullet = isOrdered ? `${number++}. ` : "- ";
      const lists = this.#lists;
      writer.indented(" ".repeat(bullet.length), bullet, () => this.children(child));
      this.#lists = lists;
    }
    this.#lists--;
    if (this.#lists === 0) writer.block();
    else writer.breakLine();
  }

  #table(element: Element): void {
    const { writer } = this;
    const rows = writer.oneLine > 0 ? undefined : rowsOf(element, this.#skipped);
    if (rows === undefined) {
      this.#block(element);
      return;
    }
    const width = Math.max(...rows.map((row) => row.length));
    const lines = rows.map((row) => {
      const cells = Array.from({ length: width }, (_, at) => (row[at] ? this.#cell(row[at]) : ""));
      return `| ${cells.join(" | ")} |`;
    });
    lines.splice(1, 0, `|${" --- |".repeat(width)}`);
    writer.block();
    writer.lines(lines);
    writer.block();
  }

  #cell(element: Element): string {
    const inner = new Renderer(this.#resolveUrl, this.#skipped);
    inner.writer.oneLine = 1;
    inner.children(element);
    this.images += inner.images;
    return inner.writer
      .finish()
      .replaceAll("|", "\\|")
      .replace(/\s*\n\s*/g, " ");
  }
}

/** The cells of a table of data. `undefined` for a table that arranges a page. */
function rowsOf(table: Element, skipped: ReadonlySet<Element>): (Element | undefined)[][] | undefined {
  if (table.attributes.role === "presentation") return undefined;
  const rows: (Element | undefined)[][] = [];
  const collect = (parent: Element): boolean =>
    parent.children.every((child) => {
      if (typeof child === "string" || skipped.has(child)) return true;
      if (child.name === "thead" || child.name === "tbody" || child.name === "tfoot") return collect(child);
      if (child.name === "caption" || child.name === "colgroup" || child.name === "col") return true;
      if (child.name !== "tr") return false;
      const row: (Element | undefined)[] = [];
      for (const cell of child.children) {
        if (typeof cell === "string" || skipped.has(cell)) continue;
        if (cell.name !== "td" && cell.name !== "th") return false;
        if (!isShort(cell)) return false;
        row.push(cell);
        const span = Math.min(Number.parseInt(cell.attributes.colspan ?? "1", 10) || 1, MAX_COLUMNS);
        for (let more = 1; more < span; more++) row.push(undefined);
      }
      if (row.length > MAX_COLUMNS) return false;
      if (row.length > 0) rows.push(row);
      return true;
    });
  const isData = collect(table) && rows.length > 0 && rows.some((row) => row.length > 1);
  return isData ? rows : undefined;
}

/** Whether a cell fits into a row: no table, code block or long text. */
function isShort(cell: Element): boolean {
  let length = 0;
  const fits = (element: Element): boolean =>
    element.children.every((child) => {
      if (typeof child === "string") {
        length += child.trim().length;
        return length <= MAX_CELL;
      }
      return child.name !== "table" && child.name !== "pre" && fits(child);
    });
  return fits(cell);
}

/** The text of an element as it is written. */
function textOf(element: Element, isCode = false): string {
  const parts: string[] = [];
  const collect = (parent: Element): void => {
    for (const child of parent.children) {
      if (typeof child === "string") parts.push(child);
      else if (child.name === "br") parts.push("\n");
      else if (!isCode || !LINE_NUMBERS.test(child.attributes.class ?? "")) collect(child);
    }
  };
  collect(element);
  return parts.join("");
}

/** The language of a code block, from the classes that highlighters use, on the block or on the `<code>` inside it. */
function languageOf(element: Element): string {
  const code = element.children.find((child): child is Element => typeof child !== "string");
  for (const one of code?.name === "code" ? [code, element] : [element]) {
    const named = one.attributes["data-lang"] ?? one.attributes["data-language"];
    if (named !== undefined && /^[\w+#.-]{1,30}$/.test(named)) return named;
    const found = classLanguage(one);
    if (found !== "") return found;
  }
  return "";
}

function classLanguage({ attributes: { class: names } }: Element): string {
  const found = names === undefined || !/[-:]/.test(names) ? undefined : LANGUAGE_CLASS.exec(names)?.[1];
  return found === undefined || NO_LANGUAGE.has(found.toLowerCase()) ? "" : found;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

function escapeBrackets(text: string): string {
  return text.replace(/[[\]]/g, "\\$&");
}
