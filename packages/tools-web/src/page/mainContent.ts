import type { Element } from "./tree.js";

export interface MainContent {
  readonly element: Element;
  /** Characters of visible text outside of it: navigation, banners, footers. */
  readonly outside: number;
  readonly hidden: number;
  /** The elements that are not part of the content. */
  readonly skipped: ReadonlySet<Element>;
}

const BOILERPLATE = new Set("nav footer aside form button dialog menu".split(" "));
const BOILERPLATE_ROLES = new Set(
  "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar".split(" "),
);
const BOILERPLATE_CLASS =
  /(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|breadcrumbs?|footer|cookie|consent|banner|advert|ads|social|share|newsletter|skip-?link|related|toc)(?:$|[\s_-])/i;
const HIDDEN_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0*)?\s*(?:;|$)|font-size\s*:\s*0(?:px|em|%)?\s*(?:;|$))/i;
// A page with less text than this is shown whole: there is no main content to tell from the rest.
const SMALL_PAGE = 1500;
// The share of a text that its main part must have.
const DECLARED_SHARE = 0.3;
const DOMINANT_SHARE = 0.75;
// Text in links counts less: lists of links are navigation more often than content.
const LINK_WEIGHT = 0.3;

/**
 * Finds the element that holds the content of a page: what the page declares as such (`<main>`, one `<article>`), or
 * else the innermost element with most of the text. Hidden elements never count, because a reader of the page does not
 * see what they say.
 */
export function findMainContent(root: Element): MainContent {
  const skipped = new Set<Element>();
  const boilerplate = new Set<Element>();
  const declared: Element[] = [];
  let hidden = 0;

  const measure = (element: Element, insideLink: boolean): void => {
    if (isHidden(element)) {
      skipped.add(element);
      hidden++;
      return;
    }
    if (isBoilerplate(element)) boilerplate.add(element);
    if (isDeclaredMain(element)) declared.push(element);
    const inLink = insideLink || element.name === "a";
    for (const child of element.children) {
      if (typeof child === "string") {
        const length = visibleLength(child);
        element.text += length;
        if (inLink) element.links += length;
      } else {
        measure(child, inLink);
        element.text += child.text;
        element.links += child.links;
      }
    }
  };
  measure(root, false);
  const whole = root;

  if (whole.text <= SMALL_PAGE) return { element: root, outside: 0, hidden, skipped };
  // Something that has most of the page in it is not a side part, whatever it is called.
  for (const element of boilerplate) {
    if (element.text < whole.text / 2) skipped.add(element);
  }
  const score = (element: Element): number =>
    skipped.has(element) ? 0 : element.text - element.links * (1 - LINK_WEIGHT);
  const mains = declared.filter((element) => !skipped.has(element));
  const best = mains.reduce<Element | undefined>(
    (found, element) => (found === undefined || element.text > found.text ? element : found),
    undefined,
  );
  let element = best !== undefined && best.text >= whole.text * DECLARED_SHARE ? best : root;
  if (element === root) {
    for (;;) {
      const total = element.children.reduce(
        (sum, child) => sum + (typeof child === "string" ? visibleLength(child) : score(child)),
        0,
      );
      const next = element.children.find(
        (child): child is Element => typeof child !== "string" && score(child) >= total * DOMINANT_SHARE,
      );
      // A paragraph or a cell alone is too narrow.
      if (
        next === undefined ||
        total === 0 ||
        !/^(?:div|section|article|main|center|td|table|tbody|tr|font|span)$/.test(next.name)
      )
        break;
      element = next;
    }
  }
  return { element, outside: whole.text - shownText(element, skipped), hidden, skipped };
}

/** The characters of an element without those of the elements in it that are left out. */
function shownText(element: Element, skipped: ReadonlySet<Element>): number {
  let shown = element.text;
  for (const one of skipped) {
    let above = one.parent;
    while (above !== undefined && above !== element && !skipped.has(above)) above = above.parent;
    if (above === element) shown -= one.text;
  }
  return shown;
}

function isHidden({ attributes }: Element): boolean {
  return (
    attributes.hidden !== undefined ||
    attributes["aria-hidden"] === "true" ||
    (attributes.style !== undefined && HIDDEN_STYLE.test(attributes.style))
  );
}

function isBoilerplate({ name, attributes: { role, class: className, id } }: Element): boolean {
  if (BOILERPLATE.has(name) || (role !== undefined && BOILERPLATE_ROLES.has(role))) return true;
  if (name === "body" || name === "main" || name === "article" || name === "pre") return false;
  return isSideName(className) || isSideName(id);
}

function isSideName(names: string | undefined): boolean {
  return names !== undefined && BOILERPLATE_CLASS.test(names.length > 500 ? names.slice(0, 500) : names);
}

function isDeclaredMain({ name, attributes: { role } }: Element): boolean {
  return name === "main" || role === "main" || name === "article";
}

/** The length of a text without the blanks around it. */
function visibleLength(text: string): number {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return end - start;
}
