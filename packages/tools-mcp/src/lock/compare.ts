import type { LockedTool } from "./lock.js";

/** The differences between the approved state and what a server offers now. */
export interface ToolDifferences {
  readonly added: readonly LockedTool[];
  readonly removed: readonly LockedTool[];
  readonly changed: readonly { readonly before: LockedTool; readonly after: LockedTool }[];
}

export function compareTools(before: readonly LockedTool[], after: readonly LockedTool[]): ToolDifferences {
  const old = new Map(before.map((tool) => [tool.tool, tool]));
  const now = new Map(after.map((tool) => [tool.tool, tool]));
  return {
    added: after.filter(({ tool }) => !old.has(tool)),
    removed: before.filter(({ tool }) => !now.has(tool)),
    changed: after.flatMap((tool) => {
      const approved = old.get(tool.tool);
      return approved === undefined || approved.hash === tool.hash ? [] : [{ before: approved, after: tool }];
    }),
  };
}

const PARTS = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/** A part of a tool as it was approved and as it is now, as text. */
export interface DifferingPart {
  readonly part: (typeof PARTS)[number];
  readonly before: string;
  readonly after: string;
}

/** The parts in which a tool differs. */
export function differingParts(before: LockedTool, after: LockedTool): DifferingPart[] {
  const textOf = (value: unknown): string =>
    typeof value === "string" ? value : JSON.stringify(value ?? null);
  return PARTS.map((part) => ({
    part,
    before: textOf(before[part]),
    after: textOf(after[part]),
  })).filter((found) => found.before !== found.after);
}
