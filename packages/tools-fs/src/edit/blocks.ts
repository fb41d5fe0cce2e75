// A longer text is generated.
const LONGEST_TEXT = 1024 * 1024;
const LONGEST_SHOWN = 80;

/**
 * Throws if a change leaves a line of Python or YAML in no block, or a block of Python without lines: a syntax error, or a
 * line of another block than was meant. A text that has such a line already is not checked.
 */
export function checkBlocks(before: string, after: string, path: string): void {
  const find = /\.pyi?$/i.test(path) ? strayInPython : /\.ya?ml$/i.test(path) ? strayInYaml : undefined;
  if (find === undefined || after.length > LONGEST_TEXT) return;
  const line = find(linesIn(after));
  if (line === undefined || find(linesIn(before)) !== undefined) return;
  throw new Error(
    `The line ${JSON.stringify(line.slice(0, LONGEST_SHOWN))} would be indented unlike the blocks around it; nothing was changed. Write whole lines with the file's indentation.`,
  );
}

function linesIn(text: string): readonly string[] {
  return text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
}

/** The first statement whose indentation is that of no open block, or that is not deeper than the line that opens one. */
function strayInPython(lines: readonly string[]): string | undefined {
  const blocks = [""];
  const code = new PythonCode();
  for (const line of lines) {
    if (!code.isOpen && /^\s*[^\s#]/.test(line)) {
      const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
      let block = blocks.at(-1) ?? "";
      const isDeeper = indent !== block && indent.startsWith(block);
      if (isDeeper !== code.opensBlock) return line;
      if (isDeeper) blocks.push(indent);
      else {
        while (block.length > indent.length) {
          blocks.pop();
          block = blocks.at(-1) ?? "";
        }
        if (block !== indent) return line;
      }
    }
    if (!code.read(line)) return undefined;
  }
  return undefined;
}

const PYTHON_MARK = /"""|'''|["'#()[\]{}]|\\$/g;
const QUOTED: Readonly<Record<string, RegExp>> = {
  '"': /[^"\\]*(?:\\.[^"\\]*)*"/y,
  "'": /[^'\\]*(?:\\.[^'\\]*)*'/y,
};

/** Reads Python line by line, and tells whether the next line continues a statement. */
class PythonCode {
  #brackets = 0;
  /** The mark of the string of several lines that is open. */
  #mark = "";
  #isContinued = false;
  #opensBlock = false;

  /** Whether the last line ends with a colon. */
  get opensBlock(): boolean {
    return this.#opensBlock;
  }

  get isOpen(): boolean {
    return this.#brackets > 0 || this.#mark !== "" || this.#isContinued;
  }

  /** Returns false if the line is no code that can be read. */
  read(line: string): boolean {
    this.#isContinued = false;
    let at = 0;
    for (;;) {
      if (this.#mark !== "") {
        at = this.#endOfString(line, at);
        if (at === -1) return true;
        this.#mark = "";
      }
      PYTHON_MARK.lastIndex = at;
      const found = PYTHON_MARK.exec(line);
      const plain = line.slice(at, found?.index).trimEnd();
      if (plain !== "") this.#opensBlock = plain.endsWith(":");
      if (!found || found[0] === "#") return true;
      const [mark] = found;
      this.#opensBlock = false;
      at = found.index + mark.length;
      const quoted = QUOTED[mark];
      if (mark.length === 3) this.#mark = mark;
      else if (mark === "\\") this.#isContinued = true;
      else if (quoted) {
        quoted.lastIndex = at;
        if (!quoted.test(line)) return false;
        at = quoted.lastIndex;
      } else {
        this.#brackets += "([{".includes(mark) ? 1 : -1;
        if (this.#brackets < 0) return false;
      }
    }
  }

  #endOfString(line: string, from: number): number {
    for (let at = from; at < line.length; at++) {
      if (line[at] === "\\") at++;
      else if (line.startsWith(this.#mark, at)) return at + this.#mark.length;
    }
    return -1;
  }
}

// These patterns take linear time: a line may have a million blanks or dots, and characters that only other languages end lines with.
const YAML_KEY = /^(?:(?:"[^"]*"|'[^']*')\s*:|(?:[^\s"'#:&*!|>{[%@`-]|-[^\s#:])[^#]*?:)(?:\s+(\S.*))?$/s;
const YAML_DASHES = /^((?:-(?:\s+|$))*)(.*)$/s;
const YAML_COMMENT = /(?:^|\s)#.*$/s;
const BLOCK_SCALAR = /(?:^|\s)[|>][-+\d]{0,2}$/;

/** The first line that is in no open block, or below a value that is complete. */
function strayInYaml(lines: readonly string[]): string | undefined {
  let blocks: number[] = [];
  /** Lines that are deeper than this are the text of a block scalar. */
  let scalar: number | undefined;
  let isComplete = false;
  for (const line of lines) {
    const content = line.trim();
    const indent = line.length - line.trimStart().length;
    if (content === "" || (scalar !== undefined && indent > scalar)) continue;
    scalar = undefined;
    // Comments, and instructions of templates.
    if (/^(?:#|\{\{|\{%)/.test(content)) continue;
    if (/^(?:---|\.\.\.)(?:\s|$)/.test(line)) {
      blocks = [];
      isComplete = false;
      continue;
    }
    if (line.slice(0, indent).includes("\t")) return undefined;
    const block = blocks.at(-1) ?? -1;
    while ((blocks.at(-1) ?? -1) > indent) blocks.pop();
    const [, dashes = "", rest = ""] = YAML_DASHES.exec(content) ?? [];
    const [key, given = key ? "" : rest] = YAML_KEY.exec(rest) ?? [];
    const value = given.replace(YAML_COMMENT, "").trim();
    if (isOpenValue(value)) return undefined;
    if (indent < block && blocks.at(-1) !== indent) return line;
    if (indent > block) {
      // Text without a key continues the value above.
      if (isComplete && key === undefined && dashes === "") continue;
      if (isComplete) return line;
      blocks.push(indent);
    }
    const inner = indent + dashes.length;
    if (dashes !== "" && rest !== "") blocks.push(inner);
    if (BLOCK_SCALAR.test(value)) scalar = key === undefined ? indent : inner;
    isComplete = key !== undefined && value !== "" && !/^[|>&!]/.test(value);
  }
  return undefined;
}

/** Whether a value in quotes or brackets continues in the next line. */
function isOpenValue(value: string): boolean {
  if (/^["']/.test(value)) return !/^(?:"(?:\\.|[^"\\])*"|'(?:''|[^'])*')/.test(value);
  if (!/^[[{]/.test(value) || value.startsWith("{{")) return false;
  const count = (marks: RegExp): number => value.match(marks)?.length ?? 0;
  return count(/[[{]/g) !== count(/[\]}]/g);
}
