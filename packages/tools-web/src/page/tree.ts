import { setImmediate as nextTurn } from "node:timers/promises";
import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";

/** An element of a page, with the attributes that matter for its text. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (Element | string)[];
  readonly parent: Element | undefined;
  /** Characters of visible text, and the part of them that is inside links. Set by `findMainContent`. */
  text: number;
  links: number;
}

export interface PageTree {
  readonly root: Element;
  readonly title: string;
  /** The `href` of the first `<base>`. */
  readonly base: string | undefined;
  /** The `href` of every link, also of those outside the main content. */
  readonly hrefs: readonly string[];
  readonly scripts: number;
  readonly frames: readonly string[];
  /** The text of `<noscript>`. */
  readonly noscript: string;
  /** Whether the page has more elements than are kept. The text of the others is kept. */
  readonly isFlattened: boolean;
}

const CHUNK = 1024 * 1024;
// Limits that no honest page reaches. They keep time and memory linear in the size of a hostile one.
const MAX_DEPTH = 128;
const MAX_ELEMENTS = 250_000;
const MAX_HREFS = 5000;
const MAX_NOSCRIPT = 2000;

const VOID = new Set("area base br col embed frame hr img input link meta param source track wbr".split(" "));
/** Elements without text for a reader. The content of frames and of `noscript` is for other browsers. */
const SKIPPED = new Set(
  "script style template svg canvas object applet select datalist textarea noscript iframe noembed noframes".split(
    " ",
  ),
);
const KEPT_ATTRIBUTES = new Set(
  "href src alt alttext class id role hidden aria-hidden style start colspan data-lang data-language open".split(
    " ",
  ),
);
const BLOCKS = new Set(
  "address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table ul".split(
    " ",
  ),
);
const TABLE_PARTS = new Set("table caption colgroup tbody thead tfoot tr td th".split(" "));
/** Which open elements a start tag ends, and where the search for them stops. */
const IMPLIED_ENDS: Readonly<
  Record<string, { readonly ends: readonly string[]; readonly scope: readonly string[] }>
> = {
  li: { ends: ["li"], scope: ["ul", "ol", "menu"] },
  dd: { ends: ["dd", "dt"], scope: ["dl"] },
  dt: { ends: ["dd", "dt"], scope: ["dl"] },
  td: { ends: ["td", "th"], scope: ["tr", "table"] },
  th: { ends: ["td", "th"], scope: ["tr", "table"] },
  tr: { ends: ["tr"], scope: ["table"] },
  tbody: { ends: ["tbody", "thead", "tfoot"], scope: ["table"] },
  thead: { ends: ["tbody", "thead", "tfoot"], scope: ["table"] },
  tfoot: { ends: ["tbody", "thead", "tfoot"], scope: ["table"] },
  a: { ends: ["a"], scope: ["table"] },
  option: { ends: ["option"], scope: ["select"] },
};

/**
 * Parses HTML into a tree with htmlparser2's tokenizer. The tree is built here, because the parser of that package
 * searches and shifts its stack of open elements for every tag, which is quadratic on deeply nested pages. Other work
 * runs between the slices of a long page.
 */
export async function parseHtml(html: string, signal: AbortSignal): Promise<PageTree> {
  const builder = new TreeBuilder(html);
  const tokenizer = new Tokenizer({ decodeEntities: true }, builder);
  for (let at = 0; at < html.length; at += CHUNK) {
    if (at > 0) {
      await nextTurn();
      signal.throwIfAborted();
    }
    tokenizer.write(html.slice(at, at + CHUNK));
  }
  tokenizer.end();
  return builder.finish();
}

const NO_SCOPE: readonly string[] = [];
/** An end tag inside a cell ends nothing around the table. */
const CELL_SCOPE: readonly string[] = ["table", "td", "th"];
const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

class TreeBuilder implements TokenizerCallbacks {
  readonly #html: string;
  readonly #root = newElement("body", NOTHING, undefined);
  readonly #stack: Element[] = [this.#root];
  /** How many elements of a name are open: most end tags that match nothing are found without a search. */
  readonly #open = new Map<string, number>();
  #overflow = 0;
  #elements = 0;
  #tag = "";
  #attributes: Record<string, string> | undefined;
  #attribute = "";
  #value = "";
  /** The element whose content is skipped, and how many of its kind are open inside. */
  #skipped = "";
  #skippedDepth = 0;
  #title = "";
  #inTitle = false;
  #hasTitle = false;
  #base: string | undefined;
  #noscript = "";
  #scripts = 0;
  readonly #hrefs: string[] = [];
  readonly #frames: string[] = [];

  constructor(html: string) {
    this.#html = html;
  }

  finish(): PageTree {
    return {
      root: this.#root,
      title: this.#title.replace(/\s+/g, " ").trim(),
      base: this.#base,
      hrefs: this.#hrefs,
      scripts: this.#scripts,
      frames: this.#frames,
      noscript: this.#noscript,
      isFlattened: this.#elements >= MAX_ELEMENTS,
    };
  }

  ontext(start: number, end: number): void {
    this.#addText(this.#html.slice(start, end));
  }

  ontextentity(codePoint: number): void {
    this.#addText(String.fromCodePoint(codePoint));
  }

  oncdata(start: number, end: number, endOffset: number): void {
    this.#addText(this.#html.slice(start, end - endOffset));
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#html.slice(start, end).toLowerCase();
    this.#attributes = undefined;
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, end).toLowerCase();
    this.#value = "";
  }

  onattribdata(start: number, end: number): void {
    if (KEPT_ATTRIBUTES.has(this.#attribute)) this.#value += this.#html.slice(start, end);
  }

  onattribentity(codePoint: number): void {
    if (KEPT_ATTRIBUTES.has(this.#attribute)) this.#value += String.fromCodePoint(codePoint);
  }

  onattribend(): void {
    if (!KEPT_ATTRIBUTES.has(this.#attribute)) return;
    this.#attributes ??= {};
    // Of two attributes of one name the first counts.
    this.#attributes[this.#attribute] ??= this.#value;
  }

  onopentagend(): void {
    this.#openElement(false);
  }

  onselfclosingtag(): void {
    // HTML ignores the slash, except in SVG, whose content is skipped.
    this.#openElement(true);
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase();
    if (this.#skipped !== "") {
      if (name === this.#skipped && --this.#skippedDepth === 0) this.#skipped = "";
      return;
    }
    if (name === "title") {
      this.#inTitle = false;
      this.#hasTitle = true;
      return;
    }
    if (name === "br") this.#append(name, NOTHING);
    if (VOID.has(name)) return;
    if (this.#overflow > 0) {
      this.#overflow--;
      return;
    }
    this.#close(name, TABLE_PARTS.has(name) ? NO_SCOPE : CELL_SCOPE);
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #addText(text: string): void {
    if (this.#skipped !== "") {
      if (this.#skipped === "noscript" && this.#noscript.length < MAX_NOSCRIPT) this.#noscript += text;
      return;
    }
    if (this.#inTitle) {
      if (!this.#hasTitle && this.#title.length < MAX_NOSCRIPT) this.#title += text.slice(0, MAX_NOSCRIPT);
      return;
    }
    const { children } = this.#stack.at(-1) ?? this.#root;
    const last = children.length - 1;
    if (typeof children[last] === "string") children[last] += text;
    else children.push(text);
  }

  #openElement(isSelfClosing: boolean): void {
    const name = this.#tag;
    const attributes = this.#attributes ?? NOTHING;
    if (this.#skipped !== "") {
      if (name === this.#skipped && !isSelfClosing) this.#skippedDepth++;
      return;
    }
    switch (name) {
      case "script":
        this.#scripts++;
        break;
      case "title":
        // Only the first title is the page's.
        this.#inTitle = true;
        return;
      case "base":
        this.#base ??= attributes.href;
        return;
      case "a":
        if (attributes.href !== undefined && this.#hrefs.length < MAX_HREFS)
          this.#hrefs.push(attributes.href);
        break;
      case "iframe":
      case "frame":
        if (attributes.src !== undefined && this.#frames.length < MAX_HREFS)
          this.#frames.push(attributes.src);
        break;
      case "html":
      case "head":
      case "body":
        return;
    }
    // SVG is the only one of these that a slash closes.
    if (SKIPPED.has(name) && isSelfClosing && name === "svg") return;
    if (SKIPPED.has(name)) {
      this.#skipped = name;
      this.#skippedDepth = 1;
      return;
    }
    const implied = IMPLIED_ENDS[name];
    if (implied) {
      for (const end of implied.ends) if (this.#close(end, implied.scope)) break;
    }
    if (BLOCKS.has(name)) this.#close("p", CELL_SCOPE);
    if (this.#elements >= MAX_ELEMENTS) {
      this.#addText(" ");
      if (!VOID.has(name)) this.#overflow++;
      return;
    }
    const isVoid = VOID.has(name);
    if (!isVoid && (this.#stack.length >= MAX_DEPTH || this.#overflow > 0)) {
      this.#overflow++;
      return;
    }
    const element = this.#append(name, attributes);
    if (isVoid) return;
    this.#stack.push(element);
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
  }

  #append(name: string, attributes: Readonly<Record<string, string>>): Element {
    const parent = this.#stack.at(-1) ?? this.#root;
    const element = newElement(name, attributes, parent);
    this.#elements++;
    parent.children.push(element);
    return element;
  }

  /** Closes the innermost open element of this name, and all inside it, unless one of `scope` is around it. */
  #close(wanted: string, scope: readonly string[]): boolean {
    if (!this.#open.get(wanted)) return false;
    for (let at = this.#stack.length - 1; at > 0; at--) {
      const name = this.#stack[at]?.name ?? "";
      if (name !== wanted) {
        if (scope.includes(name)) return false;
        continue;
      }
      while (this.#stack.length > at) {
        const closed = this.#stack.pop()?.name ?? "";
        this.#open.set(closed, (this.#open.get(closed) ?? 1) - 1);
      }
      return true;
    }
    return false;
  }
}

function newElement(
  name: string,
  attributes: Readonly<Record<string, string>>,
  parent: Element | undefined,
): Element {
  return { name, attributes, children: [], parent, text: 0, links: 0 };
}
