import { canonicalUrl, parseUrl } from "../network/url.js";
import { findMainContent } from "./mainContent.js";
import { toMarkdown } from "./markdown.js";
import { parseHtml } from "./tree.js";

const MAX_FRAMES = 5;
/** Longer links are asked about when they are fetched: keeping thousands of them would take too much memory. */
const MAX_LINK = 2000;

/** Converts an HTML page to Markdown. Loaded with the first such page, because of the parser. */
export interface HtmlPage {
  readonly text: string;
  readonly notes: readonly string[];
  readonly links: readonly string[];
  /** The number of characters that a reader of the page sees. */
  readonly visible: number;
  readonly scripts: number;
  readonly noscript: string;
}

export async function htmlPage(html: string, url: URL, signal: AbortSignal): Promise<HtmlPage> {
  const tree = await parseHtml(html, signal);
  const { hidden } = tree;
  const base = baseOf(tree.base, url);
  const { element, outside } = findMainContent(tree);
  const resolve = createResolver(base);
  const { text, hasHeading, images, hasAllLinks } = toMarkdown(element, resolve);
  const frames = frameUrls(tree.frames, resolve).map((frame) => `\n\n[frame](${frame})`);
  const notes = [
    ...(outside > 0
      ? [
          `${count(outside, "character")} outside the main content were left out (navigation, banners, forms).`,
        ]
      : []),
    ...(hidden > 0 ? [`${count(hidden, "hidden element")} ${hidden === 1 ? "was" : "were"} left out.`] : []),
    ...(images > 0
      ? [`${count(images, "image")} without a description ${images === 1 ? "was" : "were"} left out.`]
      : []),
    ...(hasAllLinks ? [] : ["The page has too many links: some are shown without their addresses."]),
    ...(tree.isFlattened
      ? ["The page has too many elements: the end of it is shown without structure."]
      : []),
  ];
  const title = hasHeading || tree.title === "" ? "" : `# ${tree.title}\n\n`;
  return {
    text: title + text + frames.join(""),
    notes,
    links: ownLinks(tree.hrefs, resolve, url),
    visible: tree.root.visible,
    scripts: tree.scripts,
    noscript: tree.noscript,
  };
}

function baseOf(href: string | undefined, url: URL): URL {
  try {
    return href === undefined ? url : parseUrl(href, url);
  } catch {
    return url;
  }
}

/** Resolves the links of a page. Each is parsed once, since that takes much of the time for a page with many links. */
function createResolver(base: URL): (href: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (href) => {
    let url = known.get(href);
    if (url !== undefined || known.has(href)) return url;
    url = canonicalUrl(href.trim(), base);
    known.set(href, url);
    return url;
  };
}

function frameUrls(sources: readonly string[], resolve: (href: string) => string | undefined): string[] {
  const frames = new Set<string>();
  for (const source of sources) {
    const url = resolve(source);
    if (url !== undefined) frames.add(url);
    if (frames.size === MAX_FRAMES) break;
  }
  return [...frames];
}

/** The links of a page that stay on its host, absolute and without fragments. */
function ownLinks(
  hrefs: readonly string[],
  resolve: (href: string) => string | undefined,
  page: URL,
): string[] {
  const links = new Set<string>();
  const origins = [`http://${page.host}/`, `https://${page.host}/`];
  for (const href of hrefs) {
    const url = href.startsWith("#") ? undefined : resolve(href);
    if (url === undefined || url.length > MAX_LINK) continue;
    if (origins.some((origin) => url.startsWith(origin))) links.add(url);
  }
  return [...links];
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
