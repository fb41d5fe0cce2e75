import type { ApprovalDecision } from "@agent/core";
import type { CallBlock } from "@agent/web";

export type Decide = (decision: ApprovalDecision) => void;

interface CallProps {
  readonly call: CallBlock;
  /** Sends the decision whether the call may run; absent while no decision is needed. */
  readonly decide: Decide | undefined;
}

/** One tool call: its arguments, its live output, its result, and the buttons while it waits for a decision. */
export function Call({ call, decide }: CallProps) {
  const { name, args, state, draft, output, text, summary, durationMs } = call;
  const shown = text === undefined || (name === "run_bash" && output !== "") ? output : text;
  return (
    <section className="call" data-state={state} aria-label={`${name}: ${state}`}>
      <header>
        {name} <small>{[state, summary, duration(durationMs)].filter(Boolean).join(" · ")}</small>
      </header>
      <pre className="arguments">{draft ?? describe(args)}</pre>
      {shown !== "" && <pre className="output">{shown.split("\n").map(line)}</pre>}
      {decide && (
        <p>
          <button type="button" onClick={() => decide("allow")}>
            Allow
          </button>{" "}
          <button type="button" onClick={() => decide("always")}>
            Always
          </button>{" "}
          <button type="button" onClick={() => decide({ deny: "the person said no." })}>
            Deny
          </button>
        </p>
      )}
    </section>
  );
}

/** A line of output; lines of a diff are coloured. */
function line(text: string, index: number) {
  const className = /^[+-]/.test(text) ? (text.startsWith("+") ? "added" : "removed") : undefined;
  return (
    <span key={index} className={className}>
      {text}
      {"\n"}
    </span>
  );
}

/** The most important argument (a command, a path), or all of them as JSON. */
function describe(args: CallBlock["args"]): string {
  const { command, path } = args;
  if (typeof command === "string") return command;
  return typeof path === "string" && Object.keys(args).length === 1
    ? path
    : JSON.stringify(args, undefined, 2);
}

function duration(ms: number | undefined): string {
  return ms === undefined ? "" : `${(ms / 1000).toFixed(1)} s`;
}
