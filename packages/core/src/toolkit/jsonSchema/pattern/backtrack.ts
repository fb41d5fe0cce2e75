import type { Work } from "../work.js";
import type { Codes, Node } from "./tree.js";

// Steps for one node: a call with its continuation.
const COST = 5;

type Span = readonly [start: number, end: number] | undefined;
type Continue = (position: number) => boolean;

/**
 * Whether the pattern matches anywhere, found by backtracking, which back-references need. Backtracking can take
 * exponential time, so `work` bounds it; a text that is too long for the stack throws `RangeError`.
 */
export function isFoundByTrying(root: Node, codes: Codes, work: Work): boolean {
  const captures: Span[] = [];

  function match(node: Node, position: number, backwards: boolean, go: Continue): boolean {
    work.spend(COST);
    switch (node.kind) {
      case "character": {
        const at = backwards ? position - 1 : position;
        const code = codes[at];
        if (code === undefined || !node.fits(code)) return false;
        return go(backwards ? at : at + 1);
      }
      case "assertion":
        return node.holds(codes, position) && go(position);
      case "sequence":
        return matchParts(backwards ? [...node.parts].reverse() : node.parts, 0, position, backwards, go);
      case "choice":
        return node.options.some((option) => match(option, position, backwards, go));
      case "repeat":
        return matchRepeat(node, 0, position, backwards, go);
      case "group":
        return match(node.body, position, backwards, (end) =>
          withCaptures(() => {
            captures[node.index] = backwards ? [end, position] : [position, end];
            return go(end);
          }),
        );
      case "look":
        return withCaptures(() => {
          const found = match(node.body, position, node.behind, () => true);
          return found !== node.negative && go(position);
        });
      case "reference":
        return matchReference(node.groups, position, backwards, go);
    }
  }

  function matchParts(
    parts: readonly Node[],
    index: number,
    position: number,
    backwards: boolean,
    go: Continue,
  ): boolean {
    const part = parts[index];
    if (part === undefined) return go(position);
    return match(part, position, backwards, (end) => matchParts(parts, index + 1, end, backwards, go));
  }

  function matchRepeat(
    node: Extract<Node, { kind: "repeat" }>,
    count: number,
    position: number,
    backwards: boolean,
    go: Continue,
  ): boolean {
    const onceMore = (): boolean =>
      count < node.max &&
      withCaptures(() => {
        captures.fill(undefined, ...node.groups);
        return match(node.body, position, backwards, (end) => {
          const isEmpty = count >= node.min && end === position;
          return !isEmpty && matchRepeat(node, count + 1, end, backwards, go);
        });
      });
    if (count < node.min) return onceMore();
    return node.lazy ? go(position) || onceMore() : onceMore() || go(position);
  }

  function matchReference(
    groups: readonly number[],
    position: number,
    backwards: boolean,
    go: Continue,
  ): boolean {
    const span = groups.map((index) => captures[index]).find((one) => one !== undefined);
    // A back-reference to a group that did not take part matches the empty string.
    if (span === undefined) return go(position);
    const [start, end] = span;
    const length = end - start;
    const from = backwards ? position - length : position;
    if (from < 0 || from + length > codes.length) return false;
    work.spend(length);
    for (let offset = 0; offset < length; offset++) {
      if (codes[start + offset] !== codes[from + offset]) return false;
    }
    return go(backwards ? from : from + length);
  }

  /** Restores the captures if `attempt` fails. */
  function withCaptures(attempt: () => boolean): boolean {
    work.spend(captures.length);
    const before = [...captures];
    if (attempt()) return true;
    captures.splice(0, captures.length, ...before);
    return false;
  }

  for (let start = 0; start <= codes.length; start++) {
    if (match(root, start, false, () => true)) return true;
  }
  return false;
}
