import type { Agent, AgentEvent, Content } from "@agent/core";
import { errorMessage, escapeInvisible } from "@agent/core/toolkit";

const STOPPED = "Stopped. The conversation continues from here.";

/** How an exchange ended. */
export interface ExchangeEnd {
  /** Why there is no answer, if there is none, in words that are safe to show. */
  readonly problem: string | undefined;
  /** Whether it ended because something failed, and not because the user stopped it. */
  readonly hasFailed: boolean;
}

/** Has a message answered, and reports every event of it, also of tools that end after the answer was given up. */
export async function exchange(
  agent: Agent,
  content: Content,
  signal: AbortSignal,
  see: (event: AgentEvent) => void,
  from?: string,
): Promise<ExchangeEnd> {
  try {
    for await (const event of agent.streamChat(content, { signal, ...(from !== undefined && { from }) }))
      see(event);
    return { problem: undefined, hasFailed: false };
  } catch (error) {
    // Tools that were told to stop return their own results.
    for (const event of await agent.settled()) see(event);
    return signal.aborted
      ? { problem: STOPPED, hasFailed: false }
      : { problem: escapeInvisible(errorMessage(error)), hasFailed: true };
  }
}
