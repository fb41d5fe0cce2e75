import { revealHiddenTags } from "@agent/internal";
import { type ContentPart, contentText, partBytes } from "../conversation/content.js";
import type { ToolMessage } from "../conversation/conversation.js";
import { OutputBudget } from "../conversation/outputBudget.js";
import type { ToolResult } from "../tools/execution.js";

// The maximum decoded size of all images and files of one round: servers refuse larger requests.
const MAX_PART_BYTES = 32 * 1024 * 1024;
// The length of the sample that is compared to tell two images or files apart.
const SAMPLE = 256;

/** The results of one answer's calls as they are kept: bounded together, in text and in parts. */
export class RoundResults {
  readonly #ids: readonly string[];
  readonly #budget: OutputBudget;
  readonly #messages: (ToolMessage | undefined)[];
  readonly #parts: (readonly ContentPart[])[];
  #partBytes = 0;

  constructor(ids: readonly string[], maxBytes: number) {
    this.#ids = ids;
    this.#budget = new OutputBudget(maxBytes, ids.length);
    this.#messages = ids.map(() => undefined);
    this.#parts = ids.map(() => []);
  }

  /** Takes the result of one call and returns it as it stands now. */
  add(index: number, { text, parts = [] }: Pick<ToolResult, "text" | "parts">): ToolMessage {
    const kept: ContentPart[] = [];
    const lines = [text];
    for (const part of parts) {
      this.#partBytes += partBytes(part);
      if (this.#partBytes <= MAX_PART_BYTES) kept.push(part);
      else
        lines.push(
          `${contentText([part])} (left out: the results of one turn hold too much. Ask for fewer at a time.)`,
        );
    }
    this.#parts[index] = kept;
    const message = this.#toMessage(
      index,
      this.#budget.add(index, revealHiddenTags(lines.join("\n").toWellFormed())),
    );
    this.#messages[index] = message;
    return message;
  }

  /** Takes a result that is part of the conversation already. */
  restore(message: ToolMessage): void {
    const index = this.#ids.indexOf(message.tool_call_id);
    if (index === -1) return;
    const { content } = message;
    this.#parts[index] = typeof content === "string" ? [] : content.slice(1);
    this.#budget.add(index, textOf(message));
    this.#messages[index] = message;
  }

  /** The results there are so far, in the order of the calls. */
  messages(): ToolMessage[] {
    return this.#messages.filter((message) => message !== undefined);
  }

  /** Whether a call has a result. */
  has(index: number): boolean {
    return this.#messages[index] !== undefined;
  }

  /** What two rounds are compared by: the texts, and a sample of each image and file. */
  signatures(): string[] {
    return this.#budget
      .texts()
      .map((text, index) => [text, ...(this.#parts[index] ?? []).map(sampleOf)].join("\0"));
  }

  /** All results in the order of the calls; `notes` are added to every one, `lastNotes` to the last. */
  close(notes: readonly string[], lastNotes: readonly string[]): ToolMessage[] {
    const last = this.#ids.length - 1;
    return this.#budget.texts().map((text, index) => {
      const whole = [text, ...notes, ...(index === last ? lastNotes : [])].join("\n");
      const message = this.#messages[index];
      // An unchanged result is the same object, which is recorded already.
      const isSame = message !== undefined && textOf(message) === whole;
      return isSame ? message : this.#toMessage(index, whole);
    });
  }

  #toMessage(index: number, text: string): ToolMessage {
    const parts = this.#parts[index] ?? [];
    const id = this.#ids[index] ?? "";
    if (parts.length === 0) return { role: "tool", tool_call_id: id, content: text };
    return { role: "tool", tool_call_id: id, content: [{ type: "text", text }, ...parts] };
  }
}

function textOf({ content }: ToolMessage): string {
  if (typeof content === "string") return content;
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

function sampleOf(part: ContentPart): string {
  const bytes = part.type === "text" ? part.text : part.data;
  const middle = bytes.length >> 1;
  return `${bytes.length} ${bytes.slice(middle, middle + SAMPLE)}`;
}
