/**
 * Matches a text against a pattern with `*` for any text and `?` for one character. With `separator`, `*` does not
 * cross a separator and `**` does; `**` with a separator matches any number of whole segments. Simulates all positions
 * in the pattern at the same time, without backtracking, so no pattern takes exponential time.
 */
export function matchesGlob(pattern: string, text: string, separator?: string): boolean {
  const tokens = tokenize(pattern, separator);
  return placesAfter(tokens, text, separator).has(tokens.length);
}

/** Whether the text is a prefix of some text that matches the pattern. */
export function mayMatchLonger(pattern: string, start: string, separator?: string): boolean {
  const tokens = tokenize(pattern, separator);
  return [...placesAfter(tokens, start, separator)].some((place) => place < tokens.length);
}

function placesAfter(tokens: readonly Token[], text: string, separator: string | undefined): Set<number> {
  // The positions in the pattern that the text so far can reach.
  let places = closure(new Set([0]), tokens, true);
  for (const character of text) {
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token === undefined) continue;
      if (token.kind === "any" && (token.crosses || character !== separator)) next.add(place);
      else if (token.kind === "segments") next.add(place);
      else if (token.kind === "one" && character !== separator) next.add(place + 1);
      else if (token.kind === "text" && token.character === character) next.add(place + 1);
    }
    places = closure(next, tokens, character === separator);
    if (places.size === 0) break;
  }
  return places;
}

type Token =
  | { readonly kind: "any"; readonly crosses: boolean }
  | { readonly kind: "segments" }
  | { readonly kind: "one" }
  | { readonly kind: "text"; readonly character: string };

function tokenize(pattern: string, separator: string | undefined): Token[] {
  const tokens: Token[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    if (character === "*") {
      const double = characters[at + 1] === "*";
      const isSegments = double && characters[at + 2] === separator;
      tokens.push(
        isSegments ? { kind: "segments" } : { kind: "any", crosses: separator === undefined || double },
      );
      at += isSegments ? 2 : double ? 1 : 0;
    } else if (character === "?") tokens.push({ kind: "one" });
    else tokens.push({ kind: "text", character });
  }
  return tokens;
}

/** Adds the positions after tokens that may match nothing. A segment ends only where another can start. */
function closure(places: Set<number>, tokens: readonly Token[], isSegmentStart: boolean): Set<number> {
  for (const place of places) {
    const kind = tokens[place]?.kind;
    if (kind === "any" || (kind === "segments" && isSegmentStart)) places.add(place + 1);
  }
  return places;
}
