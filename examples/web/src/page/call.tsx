import type { ApprovalDecision } from "@agent/core";
import type { CallBlock, PendingApproval } from "@agent/web";
import { Diff, View } from "./view.tsx";

/** A question about a call, and the function that sends the decision. */
export interface Question {
  readonly request: PendingApproval;
  readonly decide: (decision: ApprovalDecision) => void;
}

interface CallProps {
  readonly call: CallBlock;
  /** Absent while no decision is needed. */
  readonly question: Question | undefined;
}

/** One tool call: its targets, its live output, its result, and the buttons while it waits for a decision. */
export function Call({ call, question }: CallProps) {
  const { name, args, title, state, draft, output, text, summary, view, progress, durationMs } = call;
  const facts = [state, progress?.message, summary, duration(durationMs)];
  return (
    <section className="call" data-state={state} aria-label={`${name}: ${state}`}>
      <header>
        {name} {title} <small>{facts.filter(Boolean).join(" · ")}</small>
      </header>
      <pre className="arguments">{draft ?? JSON.stringify(args, undefined, 2)}</pre>
      {view && (view.type !== "output" || output === "") ? (
        <View view={view} />
      ) : (
        (output || text) && <pre className="output">{output || text}</pre>
      )}
      {question && <Decision {...question} />}
    </section>
  );
}

function Decision({ request: { name, description, preview }, decide }: Question) {
  // A call that needs access beyond the rules is asked about each time.
  const offers = description.needs.length > 0 ? [] : (description.always ?? []);
  const rules = offers.map(({ pattern }) => `${name}(${pattern})`);
  return (
    <>
      {description.caution !== undefined && <p role="alert">{description.caution}</p>}
      {description.needs.map(({ kind, path, reason }) => (
        <p key={`${kind} ${path}`}>
          It {kind}s {path}: {reason}.
        </p>
      ))}
      {preview && <Diff files={preview.changes} />}
      <p>
        <button type="button" onClick={() => decide("allow")}>
          Allow
        </button>{" "}
        {rules.map((rule) => (
          <button key={rule} type="button" onClick={() => decide({ always: rule })}>
            Always {rule}
          </button>
        ))}{" "}
        <button type="button" onClick={() => decide("always")}>
          Always {name}
        </button>{" "}
        <button type="button" onClick={() => decide({ deny: "the user said no." })}>
          Deny
        </button>
      </p>
    </>
  );
}

function duration(ms: number | undefined): string {
  return ms === undefined ? "" : `${(ms / 1000).toFixed(1)} s`;
}
