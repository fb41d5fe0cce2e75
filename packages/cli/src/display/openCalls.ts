import type { ChildEvent, ToolEndEvent } from "@agent/core";
import { countOf } from "@agent/internal";
import { ChildRows } from "./childRows.js";
import type { FileChange } from "./fileChange.js";
import { LiveOutput } from "./liveOutput.js";
import { type BlockOptions, type FinishedCall, finishedLines, openLines } from "./toolBlock.js";

const TAIL_LINES = 4;

/** A call from the model's request until this call and all requested before it have ended. */
interface TrackedCall {
  readonly name: string;
  readonly live: LiveOutput;
  /** The child agents it has started, if any. */
  children?: ChildRows;
  title: string;
  change: FileChange | undefined;
  /** When it started to run; absent until then. */
  startedAt: number | undefined;
  ended: ToolEndEvent | undefined;
}

/** The calls of a round, shown and released in the order in which the model requested them. */
export class OpenCalls {
  readonly #calls = new Map<string, TrackedCall>();
  #asking: string | undefined;

  get size(): number {
    return this.#calls.size;
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  open(id: string, name: string, title: string): void {
    const live = new LiveOutput();
    this.#calls.set(id, { name, title, live, change: undefined, startedAt: undefined, ended: undefined });
  }

  start(id: string, title: string, now: number): void {
    const call = this.#calls.get(id);
    if (!call) return;
    call.title = title;
    call.startedAt = now;
  }

  output(id: string, chunk: string): void {
    this.#calls.get(id)?.live.push(chunk);
  }

  child(event: ChildEvent, now: number): void {
    const call = this.#calls.get(event.id);
    if (!call) return;
    call.children ??= new ChildRows();
    call.children.event(event, now);
  }

  preview(id: string, change: FileChange): void {
    const call = this.#calls.get(id);
    if (call) call.change = change;
  }

  /** The call a person is being asked about, or none. */
  asking(id: string | undefined): void {
    this.#asking = id;
  }

  /** Records the end of a call and returns the finished calls up to the first that still runs. */
  end(event: ToolEndEvent): FinishedCall[] {
    const call = this.#calls.get(event.id);
    if (!call) return [{ title: "", event }];
    call.ended = event;
    const leaving: FinishedCall[] = [];
    for (const [id, one] of this.#calls) {
      if (!one.ended) break;
      this.#calls.delete(id);
      leaving.push(toFinished(one, one.ended));
    }
    return leaving;
  }

  /** Ends the turn: returns the calls that have ended, and the names and titles of those that have not. */
  clear(): { readonly ended: FinishedCall[]; readonly lost: { name: string; title: string }[] } {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    return {
      ended: calls.flatMap((call) => (call.ended ? [toFinished(call, call.ended)] : [])),
      lost: calls.filter((call) => !call.ended).map(({ name, title }) => ({ name, title })),
    };
  }

  /** The calls as rows, at most `maxRows`. */
  rows(options: BlockOptions, maxRows: number, now: number): string[] {
    if (this.#asking !== undefined) return this.#rowsBesideQuestion(options, maxRows, now);
    return this.#blockRows([...this.#calls.values()], options, maxRows, now);
  }

  /**
   * While a question is open, which shows its own call and needs the room, the calls that wait behind it take one row.
   */
  #rowsBesideQuestion(options: BlockOptions, maxRows: number, now: number): string[] {
    const others = [...this.#calls].filter(([id]) => id !== this.#asking).map(([, call]) => call);
    const begun = others.filter(({ startedAt, ended }) => startedAt !== undefined || ended !== undefined);
    const waiting = others.length - begun.length;
    const notice = waiting === 0 ? [] : [options.style.dim(`… ${countOf(waiting, "more call")} waiting`)];
    return [...this.#blockRows(begun, options, Math.max(1, maxRows - notice.length), now), ...notice];
  }

  /** Each call as a block, shortened until all fit. */
  #blockRows(calls: readonly TrackedCall[], options: BlockOptions, maxRows: number, now: number): string[] {
    const render = (tailLines: number): string[][] =>
      calls.map(({ name, title, startedAt, live, children, ended, change }) => {
        if (ended)
          return finishedLines(
            { title, event: ended, live, ...(change && { change }) },
            { ...options, maxLines: tailLines },
          ).lines;
        return openLines(
          {
            name,
            title,
            elapsedMs: startedAt === undefined ? undefined : now - startedAt,
            tail: [
              ...live.tail(tailLines, options.style.output),
              ...(children?.rows(tailLines * 2, now) ?? []),
            ],
          },
          options,
        );
      });
    for (const tailLines of [TAIL_LINES, 1, 0]) {
      const rows = render(tailLines).flat();
      if (rows.length <= maxRows) return rows;
    }
    const compact = render(0).map((block) => [block[0] ?? "", block.at(-1) ?? ""]);
    if (compact.flat().length <= maxRows) return compact.flat();
    // If there is room for one row only, show the call's state rather than its title.
    if (compact.length === 1) return compact.flat().slice(-maxRows);
    const fitting = Math.max(0, Math.floor((maxRows - 1) / 2));
    const more = options.style.dim(`… and ${calls.length - fitting} more calls (/status lists them)`);
    return [...compact.slice(0, fitting).flat(), more];
  }
}

function toFinished({ title, live, change }: TrackedCall, event: ToolEndEvent): FinishedCall {
  return { title, event, live, ...(change && { change }) };
}
