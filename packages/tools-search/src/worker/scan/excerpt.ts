/** The part of a long line around the place `at`, marked where it was cut and with the full size. */
export function excerpt(
  text: string,
  at: number,
  length: number,
  line: { readonly cutBefore: boolean; readonly cutAfter: boolean; readonly bytes: number },
): string {
  if (text.length <= length && !line.cutBefore && !line.cutAfter) return text;
  // Show less of the text before a match than after it: the text after it says more.
  const from =
    at < length * 0.75 ? 0 : Math.min(at - Math.floor(length / 4), Math.max(0, text.length - length));
  const start = from > 0 && isTrailSurrogate(text, from) ? from + 1 : from;
  const to = Math.min(text.length, start + length);
  const end = to < text.length && isTrailSurrogate(text, to) ? to - 1 : to;
  const before = start > 0 || line.cutBefore ? "…" : "";
  return `${before}${text.slice(start, end)}… [line of ${line.bytes} bytes cut]`;
}

function isTrailSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
