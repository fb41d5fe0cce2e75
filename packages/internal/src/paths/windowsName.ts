const DEVICE =
  /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])$/i;

/**
 * Why Windows would not open the file that a path names: it opens a device for `NUL` and `aux.txt`, a hidden stream for
 * `a.ts:stream`, and another file for names that end with a dot or a space. `undefined` for any other path.
 */
export function windowsNameProblem(path: string): string | undefined {
  const names = path.replace(/^[a-z]:(?=[\\/]|$)/i, "").split(/[\\/]/);
  for (const name of names) {
    if (name === "" || name === "." || name === "..") continue;
    if (name.includes(":")) return `"${name}" names a stream of a file`;
    if (/[<>"|?*]/.test(name)) return `"${name}" contains a character that names cannot have`;
    const [base = ""] = name.split(".", 1);
    if (DEVICE.test(base.trimEnd())) return `"${name}" names a device`;
    if (/[. ]$/.test(name)) return `"${name}" ends with a dot or a space, which the system leaves out`;
  }
  return undefined;
}
