import type { Element, PageTree } from "./tree.js";

export interface MainContent {
  readonly element: Element;
  /** Characters of visible text outside of it: navigation, banners, footers. */
  readonly outside: number;
}

const BOILERPLATE = new Set("nav footer aside form button dialog menu".split(" "));
const BOILERPLATE_ROLES = new Set(
  "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar".split(" "),
);
const BOILERPLATE_CLASS =
  /(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|breadcrumbs?|footer|cookie|consent|banner|advert|ads|social|share|newsletter|skip-?link|related|toc)(?:$|[\s_-])/i;
// Also text outside of the screen or too small to see, where pages put instructions for models.
const HIDDEN_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity\s*:\s*0?\.0\d*|opacity\s*:\s*0|font-size\s*:\s*[01](?:\.\d+)?(?:px|pt)|font-size\s*:\s*0(?:\.0\d*)?(?:r?em|%)?)\s*(?:!|;|$)|(?:left|top)\s*:\s*-(?:\d{4}|999)|clip\s*:\s*rect\(0)/i;
const WIDE = /^(?:div|section|article|main|center|td|table|tbody|tr|font|span)$/;
// A page with less text than this is shown whole: its main content cannot be distinguished.
const SMALL_PAGE = 1500;
// The share of a text that its main part must have.
const DECLARED_SHARE = 0.3;
const DOMINANT_SHARE = 0.75;
// Text in links counts less: lists of links are navigation more often than content.
const LINK_WEIGHT = 0.3;

/**
 * Finds the element with the content of a page: the declared one (`<main>`, one `<article>`), or else the innermost
 * element with most of the text. Marks navigation as skipped.
 */
export function findMainContent({ root, mains, boilerplate }: PageTree): MainContent {
  const whole = root.visible;
  if (whole <= SMALL_PAGE) return { element: root, outside: 0 };
  // An element that contains most of the page is not a side part, whatever its name.
  const skipped = boilerplate.filter(({ visible }) => visible < whole / 2);
  for (const element of skipped) element.isSkipped = true;
  let best: Element | undefined;
  for (const main of mains) {
    if (!main.isSkipped && (best === undefined || main.visible > best.visible)) best = main;
  }
  const element = best !== undefined && best.visible >= whole * DECLARED_SHARE ? best : densest(root);
  return { element, outside: whole - shownText(element, skipped) };
}

/** The innermost element with most of the text. */
function densest(root: Element): Element {
  let element = root;
  for (;;) {
    let total = visibleLength(element.text);
    for (let child = element.first; child; child = child.next)
      total += score(child) + visibleLength(child.tail);
    let next = element.first;
    while (next && score(next) < total * DOMINANT_SHARE) next = next.next;
    // A paragraph or a cell alone is too narrow.
    if (next === undefined || total === 0 || !WIDE.test(next.name)) return element;
    element = next;
  }
}

function score({ isSkipped, visible, linked }: Element): number {
  return isSkipped ? 0 : visible - linked * (1 - LINK_WEIGHT);
}

/** The number of characters of an element without skipped elements in it. */
function shownText(element: Element, skipped: readonly Element[]): number {
  let shown = element.visible;
  for (const one of skipped) {
    let above = one.parent;
    while (above !== undefined && above !== element && !above.isSkipped) above = above.parent;
    if (above === element) shown -= one.visible;
  }
  return shown;
}

/** Whether an element is invisible to a reader of the page. */
export function isHidden({ attributes }: Element): boolean {
  if (attributes === undefined) return false;
  return (
    attributes.hidden !== undefined ||
    attributes["aria-hidden"] === "true" ||
    (attributes.style !== undefined && HIDDEN_STYLE.test(attributes.style))
  );
}

/** Whether an element looks like navigation, a banner or a form. */
export function isBoilerplate({ name, attributes }: Element): boolean {
  if (BOILERPLATE.has(name)) return true;
  if (attributes === undefined) return false;
  const { role, class: className, id } = attributes;
  if (role !== undefined && BOILERPLATE_ROLES.has(role)) return true;
  if (name === "body" || name === "main" || name === "article" || name === "pre") return false;
  return isSideName(className) || isSideName(id);
}

function isSideName(names: string | undefined): boolean {
  return names !== undefined && BOILERPLATE_CLASS.test(names.length > 500 ? names.slice(0, 500) : names);
}

/** Whether the page declares an element as its content. */
export function isDeclaredMain({ name, attributes }: Element): boolean {
  if (name === "main" || name === "article") return true;
  return attributes?.role === "main";
}

/** The length of a text without the blanks around it. */
export function visibleLength(text: string): number {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return end - start;
}
