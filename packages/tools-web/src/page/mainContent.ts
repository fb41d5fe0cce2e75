import type { Element } from "./tree.js";

export interface MainContent {
  readonly element: Element;
  /** Characters of visible text outside of it: navigation, banners, footers. */
  readonly outside: number;
  readonly hidden: number;
  /** The elements that are not part of the content. */
  readonly skipped: ReadonlySet<Element>;
}

interface Weight {
  /** Characters of visible text. */
  text: number;
  /** The part of them that is inside links. */
  links: number;
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
  const weights = new Map<Element, Weight>();
  const declared: Element[] = [];
  let hidden = 0;

  const measure = (element: Element, insideLink: boolean): Weight => {
    const weight: Weight = { text: 0, links: 0 };
    weights.set(element, weight);
    if (isHidden(element)) {
      skipped.add(element);
      hidden++;
      return weight;
    }
    if (isBoilerplate(element)) boilerplate.add(element);
    if (isDeclaredMain(element)) declared.push(element);
    const inLink = insideLink || element.name === "a";
    for (const child of element.children) {
      if (typeof child === "string") {
        const length = visibleLength(child);
        weight.text += length;
        if (inLink) weight.links += length;
      } else {
        const inner = measure(child, inLink);
        weight.text += inner.text;
        weight.links += inner.links;
      }
    }
    return weight;
  };
  const whole = measure(root, false);
  const textOf = (element: Element): number => weights.get(element)?.text ?? 0;

  if (whole.text <= SMALL_PAGE) return { element: root, outside: 0, hidden, skipped };
  // Something that has most of the page in it is not a side part, whatever it is called.
  for (const element of boilerplate) {
    if (textOf(element) < whole.text / 2) skipped.add(element);
  }
  const score = (element: Element): number => {
    if (skipped.has(element)) return 0;
    const weight = weights.get(element) ?? { text: 0, links: 0 };
    return weight.text - weight.links * (1 - LINK_WEIGHT);
  };
  const mains = declared.filter((element) => !skipped.has(element));
  const best = mains.reduce<Element | undefined>(
    (found, element) => (found === undefined || textOf(element) > textOf(found) ? element : found),
    undefined,
  );
  let element = best !== undefined && textOf(best) >= whole.text * DECLARED_SHARE ? best : root;
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
    if (/^(?:td|tr|tbody|table|font|span)$/.test(element.name)) element = { ...element, name: "div" };
  }
  return { element, outside: whole.text - shownText(element, skipped), hidden, skipped };

  function shownText(of: Element, without: ReadonlySet<Element>): number {
    let sum = 0;
    for (const child of of.children) {
      if (typeof child === "string") sum += visibleLength(child);
      else if (!without.has(child)) sum += shownText(child, without);
    }
    return sum;
  }
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
  const names = `${className ?? ""} ${id ?? ""}`;
  return names.length > 1 && BOILERPLATE_CLASS.test(names.slice(0, 500));
}

function isDeclaredMain({ name, attributes: { role } }: Element): boolean {
  return name === "main" || role === "main" || name === "article";
}

/** The length of a text without the blanks between elements. */
function visibleLength(text: string): number {
  return text.length > 200 ? text.length : text.trim().length;
}
