import { setImmediate as nextTurn } from "node:timers/promises";
import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";
import { isBoilerplate, isDeclaredMain, isHidden, visibleLength } from "./mainContent.js";

/** An element of a page, with the attributes that matter for its text. */
export interface Element {
  readonly name: string;
  /** Most elements have none that is kept. */
  readonly attributes: Attributes | undefined;
  readonly parent: Element | undefined;
  first: Element | undefined;
  next: Element | undefined;
  /** The text before the first child. */
  text: string;
  /** The text between the element and the next one. */
  tail: string;
  /** Characters of visible text inside the element, and how many of them are in links. */
  visible: number;
  linked: number;
  /** Whether the element is not part of the content: it is invisible, or navigation. */
  isSkipped: boolean;
}

type Attributes = Readonly<Record<string, string>>;

export interface PageTree {
  readonly root: Element;
  /** Elements that may be the main content, and those that may be navigation. None is inside a hidden one. */
  readonly mains: readonly Element[];
  readonly boilerplate: readonly Element[];
  /** The number of hidden elements. */
  readonly hidden: number;
  readonly title: string;
  /** The `href` of the first `<base>`. */
  readonly base: string | undefined;
  /** The `href` of every link, also of those outside the main content. */
  readonly hrefs: readonly string[];
  readonly scripts: number;
  readonly frames: readonly string[];
  /** The text of `<noscript>`. */
  readonly noscript: string;
  /** Whether the page has more elements than are stored. The text of the others is kept. */
  readonly isFlattened: boolean;
}

const CHUNK = 1024 * 1024;
// Limits that no honest page reaches. They keep time and memory linear in the size of a hostile one.
const MAX_DEPTH = 128;
const MAX_ELEMENTS = 250_000;
const MAX_NAMES = 1000;
const MAX_HREFS = 5000;
const MAX_NOSCRIPT = 2000;

/** How the parser treats elements with a name. */
interface TagRules {
  /** They have no content and no end tag. */
  readonly isVoid: boolean;
  /** Elements without text for a reader. The content of frames and of `noscript` is for other browsers. */
  readonly isSkipped: boolean;
  /** A start tag ends a paragraph. */
  readonly endsParagraph: boolean;
  /** An end tag inside a cell ends elements around it. */
  readonly isTablePart: boolean;
  /** Which open elements a start tag closes, and where the search for them stops. */
  readonly ends: readonly string[];
  readonly endsWithin: readonly string[];
}

const OTHER: TagRules = {
  isVoid: false,
  isSkipped: false,
  endsParagraph: false,
  isTablePart: false,
  ends: [],
  endsWithin: [],
};

const TAGS = tagTable([
  ["area base br col embed frame hr img input link meta param source track wbr", { isVoid: true }],
  [
    "script style template svg canvas object applet select datalist textarea noscript iframe noembed noframes",
    { isSkipped: true },
  ],
  [
    "address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table ul",
    { endsParagraph: true },
  ],
  ["table caption colgroup tbody thead tfoot tr td th", { isTablePart: true }],
  ["li", { ends: ["li"], endsWithin: ["ul", "ol", "menu"] }],
  ["dd dt", { ends: ["dd", "dt"], endsWithin: ["dl"] }],
  ["td th", { ends: ["td", "th"], endsWithin: ["tr", "table"] }],
  ["tr", { ends: ["tr"], endsWithin: ["table"] }],
  ["tbody thead tfoot", { ends: ["tbody", "thead", "tfoot"], endsWithin: ["table"] }],
  ["a", { ends: ["a"], endsWithin: ["table"] }],
  ["option", { ends: ["option"], endsWithin: ["select"] }],
]);
function tagTable(
  rows: readonly (readonly [names: string, rules: Partial<TagRules>])[],
): ReadonlyMap<string, TagRules> {
  const table = new Map<string, TagRules>();
  for (const [names, rules] of rows)
    for (const name of names.split(" ")) table.set(name, { ...(table.get(name) ?? OTHER), ...rules });
  return table;
}

const KEPT_ATTRIBUTES = new Map(
  "href src alt alttext class id role hidden aria-hidden style start colspan data-lang data-language"
    .split(" ")
    .map((name) => [name, name]),
);

/**
 * Parses HTML into a tree with htmlparser2's tokenizer. The tree is built here, because the parser of that package
 * searches and shifts its stack of open elements for every tag, which is quadratic on deeply nested pages. A long page
 * is parsed in slices, so that other work can run.
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
/** An end tag inside a cell closes nothing around the table. */
const CELL_SCOPE: readonly string[] = ["table", "td", "th"];

/** The tags of one name on a page. */
interface Tag {
  readonly name: string;
  readonly rules: TagRules;
  /** How many elements are open: most unmatched end tags are detected without a search. */
  open: number;
}

class TreeBuilder implements TokenizerCallbacks {
  readonly #html: string;
  readonly #root = newElement("body", undefined, undefined);
  /** The tags of the open elements, from the root. */
  readonly #open: Tag[] = [newTag("body")];
  /** The innermost open element, and its last child. */
  #top = this.#root;
  #last: Element | undefined;
  /** The outermost open element that is hidden. */
  #hiddenBy: Element | undefined;
  #hidden = 0;
  readonly #mains: Element[] = [];
  readonly #boilerplate: Element[] = [];
  readonly #linkTag = newTag("a");
  /** The tags by name. */
  readonly #tags = new Map<string, Tag>([["a", this.#linkTag]]);
  #overflow = 0;
  #elements = 0;
  #tag = newTag("");
  #attributes: Record<string, string> | undefined;
  /** The attribute that is being read, if it is kept. */
  #attribute: string | undefined;
  #value = "";
  /** The name of the element whose content is skipped, and how many of its kind are open inside. */
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
    this.#closeFrom(1);
    return {
      root: this.#root,
      mains: this.#mains,
      boilerplate: this.#boilerplate,
      hidden: this.#hidden,
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
    this.#tag = this.#tagAt(start, end);
    this.#attributes = undefined;
  }

  onattribname(start: number, end: number): void {
    const name = this.#html.slice(start, end);
    this.#attribute = KEPT_ATTRIBUTES.get(name) ?? KEPT_ATTRIBUTES.get(name.toLowerCase());
    this.#value = "";
  }

  onattribdata(start: number, end: number): void {
    if (this.#attribute !== undefined) this.#value += this.#html.slice(start, end);
  }

  onattribentity(codePoint: number): void {
    if (this.#attribute !== undefined) this.#value += String.fromCodePoint(codePoint);
  }

  onattribend(): void {
    if (this.#attribute === undefined) return;
    this.#attributes ??= {};
    // If an attribute occurs twice, the first one is used.
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
    const tag = this.#tagAt(start, end);
    const { name, rules } = tag;
    if (this.#skipped !== "") {
      if (name === this.#skipped && --this.#skippedDepth === 0) this.#skipped = "";
      return;
    }
    if (name === "title") {
      this.#inTitle = false;
      this.#hasTitle = true;
      return;
    }
    if (name === "br") this.#append(tag, undefined);
    if (rules.isVoid) return;
    if (this.#overflow > 0) {
      this.#overflow--;
      return;
    }
    this.#close(tag, rules.isTablePart ? NO_SCOPE : CELL_SCOPE);
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #tagAt(start: number, end: number): Tag {
    const written = this.#html.slice(start, end);
    const known = this.#tags.get(written);
    if (known) return known;
    const name = written.toLowerCase();
    const tag = this.#tags.get(name) ?? newTag(name);
    if (this.#tags.size < MAX_NAMES) this.#tags.set(name, tag);
    return tag;
  }

  #addText(text: string): void {
    if (this.#skipped !== "") {
      if (this.#skipped === "noscript" && this.#noscript.length < MAX_NOSCRIPT) this.#noscript += text;
      return;
    }
    if (this.#inTitle) {
      if (!this.#hasTitle && this.#title.length < MAX_NOSCRIPT) this.#title += text.slice(0, MAX_NOSCRIPT);
      return;
    }
    if (this.#last === undefined) this.#top.text += text;
    else this.#last.tail += text;
    const length = visibleLength(text);
    this.#top.visible += length;
    if (this.#linkTag.open > 0) this.#top.linked += length;
  }

  #openElement(isSelfClosing: boolean): void {
    const tag = this.#tag;
    const { name, rules } = tag;
    const attributes = this.#attributes;
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
        this.#base ??= attributes?.href;
        return;
      case "a":
        if (attributes?.href !== undefined && this.#hrefs.length < MAX_HREFS)
          this.#hrefs.push(attributes.href);
        break;
      case "iframe":
      case "frame":
        if (attributes?.src !== undefined && this.#frames.length < MAX_HREFS)
          this.#frames.push(attributes.src);
        break;
      case "html":
      case "head":
      case "body":
        return;
    }
    if (rules.isSkipped) {
      // SVG is the only one of these that a slash closes.
      if (isSelfClosing && name === "svg") return;
      this.#skipped = name;
      this.#skippedDepth = 1;
      return;
    }
    for (const end of rules.ends) if (this.#closeNamed(end, rules.endsWithin)) break;
    if (rules.endsParagraph) this.#closeNamed("p", CELL_SCOPE);
    if (this.#elements >= MAX_ELEMENTS) {
      this.#addText(" ");
      if (!rules.isVoid) this.#overflow++;
      return;
    }
    if (rules.isVoid) {
      this.#append(tag, attributes);
      return;
    }
    if (this.#open.length >= MAX_DEPTH || this.#overflow > 0) {
      this.#overflow++;
      return;
    }
    const element = this.#append(tag, attributes);
    this.#open.push(tag);
    tag.open++;
    this.#top = element;
    this.#last = undefined;
    if (this.#hiddenBy !== undefined) return;
    if (element.isSkipped) {
      this.#hiddenBy = element;
      return;
    }
    if (isBoilerplate(element)) this.#boilerplate.push(element);
    if (isDeclaredMain(element)) this.#mains.push(element);
  }

  #append(tag: Tag, attributes: Attributes | undefined): Element {
    const element = newElement(tag.name, attributes, this.#top);
    this.#elements++;
    if (this.#last === undefined) this.#top.first = element;
    else this.#last.next = element;
    this.#last = element;
    if (this.#hiddenBy === undefined && isHidden(element)) {
      element.isSkipped = true;
      this.#hidden++;
    }
    return element;
  }

  #closeNamed(name: string, scope: readonly string[]): boolean {
    const tag = this.#tags.get(name);
    return tag !== undefined && this.#close(tag, scope);
  }

  /** Closes the innermost open element of this tag, and all inside it, unless one of `scope` is around it. */
  #close(wanted: Tag, scope: readonly string[]): boolean {
    if (wanted.open === 0) return false;
    for (let at = this.#open.length - 1; at > 0; at--) {
      const tag = this.#open[at];
      if (tag !== wanted) {
        if (tag !== undefined && scope.includes(tag.name)) return false;
        continue;
      }
      this.#closeFrom(at);
      return true;
    }
    return false;
  }

  /** Closes the open elements from this depth on, the innermost first. */
  #closeFrom(depth: number): void {
    while (this.#open.length > depth) {
      const closed = this.#top;
      const tag = this.#open.pop();
      if (tag) tag.open--;
      this.#top = closed.parent ?? this.#root;
      this.#last = closed;
      if (this.#hiddenBy === closed) this.#hiddenBy = undefined;
      if (closed.isSkipped) continue;
      this.#top.visible += closed.visible;
      this.#top.linked += closed.linked;
    }
  }
}

function newTag(name: string): Tag {
  return { name, rules: TAGS.get(name) ?? OTHER, open: 0 };
}

function newElement(name: string, attributes: Attributes | undefined, parent: Element | undefined): Element {
  return {
    name,
    attributes,
    parent,
    first: undefined,
    next: undefined,
    text: "",
    tail: "",
    visible: 0,
    linked: 0,
    isSkipped: false,
  };
}
