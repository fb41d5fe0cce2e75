import { escapeToLine } from "@agent/internal";

const LONGEST_KEPT = 4096;
const SUBJECT = /"(?:path|file_path|command|query|pattern|url|source)"\s*:\s*"((?:[^"\\]|\\.)*)/;
const LONGEST_SUBJECT = 200;

/** A tool call while the model writes it: its name, what it is about as soon as that can be read, and its size. */
export class CallDraft {
  readonly name: string;
  #start = "";
  #size = 0;

  constructor(name: string) {
    this.name = name;
  }

  add(delta: string): void {
    this.#size += delta.length;
    if (this.#start.length < LONGEST_KEPT) this.#start += delta;
  }

  /** `write_file src/a.ts (2.1 KB)`, safe to show. */
  get text(): string {
    const subject = SUBJECT.exec(this.#start)?.[1];
    const size = this.#size < 1024 ? "" : ` (${(this.#size / 1024).toFixed(1)} KB)`;
    const about =
      subject === undefined ? "" : ` ${escapeToLine(decodeStart(subject).slice(0, LONGEST_SUBJECT))}`;
    return `${escapeToLine(this.name)}${about}${size}`;
  }
}

/** A JSON string that may be cut off in the middle of an escape. */
function decodeStart(text: string): string {
  try {
    return String(JSON.parse(`"${text.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "")}"`));
  } catch {
    return text;
  }
}
