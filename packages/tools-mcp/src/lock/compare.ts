import type { LockedTool } from "./lock.js";

/** What differs between what was agreed to and what a server offers now. */
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
      const agreed = old.get(tool.tool);
      return agreed === undefined || agreed.hash === tool.hash ? [] : [{ before: agreed, after: tool }];
    }),
  };
}

/** Which parts of a tool differ, in words: `description and inputSchema`. */
export function differingParts(before: LockedTool, after: LockedTool): string {
  const parts = (["title", "description", "inputSchema", "annotations"] as const).filter(
    (part) => JSON.stringify(before[part]) !== JSON.stringify(after[part]),
  );
  return parts.join(" and ") || "order of its fields";
}
