/** `file:line` if one of the texts occurs in the source, searched in this order; else only the file. */
export function locate(file: string, source: string, ...needles: readonly RegExp[]): string {
  for (const needle of needles) {
    const index = source.search(needle);
    if (index !== -1) return `${file}:${source.slice(0, index).split("\n").length}`;
  }
  return file;
}

/** Finds where a key is set: `enabel:` in code, `"enabel":` in JSON. */
export function keyPattern(key: string): RegExp {
  return new RegExp(`(^|[{,\\s])["']?${escapeRegExp(key)}["']?\\s*[:,(}]`, "m");
}

/** Finds a string literal, or the plain word in YAML. */
export function valuePattern(value: string): RegExp {
  return new RegExp(`(["'\`])${escapeRegExp(value)}\\1|^[ \\t]*-[ \\t]*${escapeRegExp(value)}[ \\t]*$`, "m");
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
