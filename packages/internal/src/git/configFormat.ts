/** One `key = value`, with its section: `core.hookspath`, `filter.lfs.clean`. Keys are in lower case. */
export interface GitSetting {
  readonly key: string;
  readonly value: string;
  /** The file it stands in. */
  readonly file: string;
}

/** Reads git's configuration format as far as keys and values go; what it does not understand it skips. */
export function parseGitConfig(text: string, file = ""): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = "";
  for (const line of text.replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$/.exec(line);
    if (header) {
      const [, name = "", subsection] = header;
      section = subsection === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${subsection}`;
    }
    const assignment = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(header?.[3] ?? line);
    if (assignment === null) continue;
    const [, key = "", value = ""] = assignment;
    settings.push({ key: `${section}.${key.toLowerCase()}`, value: unquote(value), file });
  }
  return settings;
}

/** The value without quotes, escapes and a comment at its end. */
function unquote(value: string): string {
  let [result, quoted] = ["", false];
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? "";
    if (character === "\\") result += value[++at] ?? "";
    else if (character === '"') quoted = !quoted;
    else if (!quoted && (character === "#" || character === ";")) break;
    else result += character;
  }
  return result.trim();
}
