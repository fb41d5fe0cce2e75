import { parseUrl } from "../network/url.js";
import { findMainContent } from "./mainContent.js";
import { toMarkdown } from "./markdown.js";
import { parseHtml } from "./tree.js";

const MAX_FRAMES = 5;

/** An HTML page as Markdown. Loaded with the first such page: it brings the parser. */
export interface HtmlPage {
  readonly text: string;
  readonly notes: readonly string[];
  readonly links: readonly string[];
  readonly scripts: number;
  readonly noscript: string;
}

export async function htmlPage(html: string, url: URL, signal: AbortSignal): Promise<HtmlPage> {
  const tree = await parseHtml(html, signal);
  const base = baseOf(tree.base, url);
  const { element, outside, hidden, skipped } = findMainContent(tree.root);
  const { text, hasHeading, images } = toMarkdown(element, base, skipped);
  const frames = frameUrls(tree.frames, base).map((frame) => `\n\n[frame](${frame})`);
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
    ...(tree.isFlattened
      ? ["The page has too many elements: the end of it is shown without structure."]
      : []),
  ];
  const title = hasHeading || tree.title === "" ? "" : `# ${tree.title}\n\n`;
  return {
    text: title + text + frames.join(""),
    notes,
    links: ownLinks(tree.hrefs, base, url),
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

function frameUrls(sources: readonly string[], base: URL): string[] {
  const frames = new Set<string>();
  for (const source of sources) {
    try {
      frames.add(parseUrl(source, base).href);
    } catch {
      // about:blank and data: URLs are not pages.
    }
    if (frames.size === MAX_FRAMES) break;
  }
  return [...frames];
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** The links of a page that stay on its host, absolute and without fragments. */
function ownLinks(hrefs: readonly string[], base: URL, page: URL): string[] {
  const links = new Set<string>();
  for (const href of hrefs) {
    try {
      const url = parseUrl(href.trim(), base);
      if (url.host === page.host) links.add(url.href);
    } catch {
      // A link that leads nowhere is not one.
    }
  }
  return [...links];
}
