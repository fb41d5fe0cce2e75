/** A path prepared for search: its lower-case form and where its last segment begins. */
export interface Candidate {
  readonly text: string;
  readonly lower: string;
  readonly nameStart: number;
}

export function toCandidate(text: string): Candidate {
  const end = text.endsWith("/") ? text.length - 2 : text.length;
  return { text, lower: text.toLowerCase(), nameStart: text.lastIndexOf("/", end) + 1 };
}

/**
 * The score of a lower-case query, or -1 if its letters do not occur in this order. A contiguous match in the last
 * segment counts most, then a contiguous match anywhere, then letters close together.
 */
function fuzzyScore({ lower, nameStart }: Candidate, query: string): number {
  // Nothing is typed yet: the entries of the root come first.
  if (query === "") return nameStart === 0 ? 1 : 0;
  const inName = lower.indexOf(query, nameStart);
  if (inName === nameStart) return 4000 - lower.length;
  if (inName !== -1) return (isBoundary(lower, inName) ? 3500 : 3000) - lower.length;
  const whole = lower.indexOf(query);
  if (whole !== -1) return (isBoundary(lower, whole) ? 2500 : 2000) - lower.length;
  // Search the last segment first: people type the name of a file, not the directories before it.
  const scattered = subsequenceSpan(lower, query, nameStart);
  if (scattered !== -1) {
    const starts = lower[nameStart] === query[0] ? 300 : 0;
    return 1200 + starts - scattered - lower.length / 10;
  }
  const anywhere = subsequenceSpan(lower, query, 0);
  return anywhere === -1 ? -1 : Math.max(0, 900 - anywhere - lower.length / 10);
}

/** The best `count` candidates, the best first. */
export function bestMatches(
  candidates: readonly Candidate[],
  query: string,
  count: number,
): { readonly best: string[]; readonly matching: readonly Candidate[] } {
  const lower = query.toLowerCase();
  const matching: Candidate[] = [];
  const top: { score: number; text: string }[] = [];
  for (const candidate of candidates) {
    const score = fuzzyScore(candidate, lower);
    if (score < 0) continue;
    matching.push(candidate);
    const worst = top.at(-1);
    if (top.length === count && worst && score <= worst.score) continue;
    const place = top.findIndex((one) => score > one.score);
    top.splice(place === -1 ? top.length : place, 0, { score, text: candidate.text });
    if (top.length > count) top.pop();
  }
  return { best: top.map(({ text }) => text), matching };
}

/** The length of the span that contains the letters in order, matched greedily from the left; -1 if one is missing. */
function subsequenceSpan(text: string, query: string, from: number): number {
  let at = from - 1;
  let first = -1;
  for (let index = 0; index < query.length; index++) {
    at = text.indexOf(query[index] ?? "", at + 1);
    if (at === -1) return -1;
    if (first === -1) first = at;
  }
  return at - first;
}

function isBoundary(text: string, at: number): boolean {
  return at === 0 || /[^\p{L}\p{N}]/u.test(text[at - 1] ?? "");
}
