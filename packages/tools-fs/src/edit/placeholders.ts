const LEADER = String.raw`(?:\/\/+|#+|--+|;+|%+|\/\*+|\*|<!--|\{\/\*|"""|''')`;
const DOTS = String.raw`(?:\.{3,}|…)`;
const WORDS = "(?:existing|rest|remaining|unchanged|omitted|previous|same|as before|other|keep|code here)";
/** A comment that replaces code: `// ... existing code ...`, `# rest of the function unchanged`. */
const STRONG = new RegExp(
  String.raw`^\s*${LEADER}\s*(?:[([]\s*)?(?:${DOTS}.*\b${WORDS}\b|.*\b${WORDS}\b.*${DOTS}|(?:the )?(?:rest of|remaining|existing) (?:the |this |of )*(?:code|file|function|method|class|implementation|body|logic|imports?)\b|.*\b(?:remains?|stays?|is|are) (?:unchanged|the same)\b)`,
  "i",
);
/** A comment that contains only dots. */
const WEAK = new RegExp(String.raw`^\s*${LEADER}\s*${DOTS}\s*(?:\*\/\}?|-->)?\s*$`);

/**
 * Finds a line of the new text that is a placeholder for code which the edit would delete. A line that the old text or
 * the file also contains is meant literally.
 */
export function findPlaceholder(oldText: string, newText: string, file: string): string | undefined {
  if (!/\.{3}|…|unchanged|same|existing|rest of|remaining/i.test(newText)) return undefined;
  const [old, added] = [linesIn(oldText), linesIn(newText)];
  const deletes = [...old].some((line) => !added.has(line));
  return [...added].find(
    (line) => (STRONG.test(line) || (deletes && WEAK.test(line))) && !old.has(line) && !file.includes(line),
  );
}

function linesIn(text: string): Set<string> {
  return new Set(
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  );
}
