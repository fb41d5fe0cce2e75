import { type ExecutableTool, type ToolPack, ToolRegistry } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { type CollectedTool, Collection } from "./collect.js";
import { importDependencies } from "./dependencies.js";
import type { Inspection, LateRegistration, Registration, SeenTool, Task } from "./messages.js";
import { changesSince, takeSnapshot } from "./snapshot.js";

const UNKNOWN_OPTION = "agentTestingUnknownOption";
const NOTHING: Registration = { tools: [] };

/** Imports the pack and registers it a few times, and records what that changes in the process. */
export async function inspect({ module, options, settleMs, late }: Task): Promise<Inspection> {
  const dependencyEffects = await importDependencies(module);
  const beforeImport = takeSnapshot();
  let pack: ToolPack;
  try {
    pack = await import(module);
  } catch (error) {
    return {
      importError: errorMessage(error),
      importEffects: [],
      dependencyEffects,
      packName: undefined,
      packApiVersion: undefined,
      first: NOTHING,
      second: NOTHING,
      registerEffects: [],
    };
  }
  const importEffects = changesSince(beforeImport);
  const beforeRegister = takeSnapshot();
  const first = registration(pack, options);
  const second = registration(pack, options);
  const registerEffects = changesSince(beforeRegister);
  const { error: unknownOptionRefusal } = registration(pack, {
    ...asObject(options),
    [UNKNOWN_OPTION]: true,
  });
  return {
    importEffects,
    dependencyEffects,
    packName: plain(pack.packName),
    packApiVersion: plain(pack.packApiVersion),
    first,
    second,
    registerEffects,
    ...(unknownOptionRefusal !== undefined && { unknownOptionRefusal }),
    ...(late && first.error === undefined && { late: await lateTools(pack, options, settleMs) }),
  };
}

/** The tools that come after `register` has returned, from a registration of their own. */
async function lateTools(pack: ToolPack, options: unknown, withinMs: number): Promise<LateRegistration> {
  const collection = new Collection(pack, options);
  const known = new Set(collection.tools);
  const failures = await collection.loadLate(withinMs);
  const tools = collection.tools.filter((entry) => !known.has(entry)).map(describeTool);
  await collection.dispose(withinMs).catch(() => undefined); // the check of leftovers reports it
  return { tools, failures };
}

function registration(pack: ToolPack, options: unknown): Registration {
  try {
    return { tools: new Collection(pack, options).tools.map(describeTool) };
  } catch (error) {
    return { error: errorMessage(error), tools: [] };
  }
}

function describeTool({ tool, enabled }: CollectedTool): SeenTool {
  const { schema, schemaProblem } = readSchema(tool);
  const refusal = refusalOf(tool);
  return {
    name: String(tool?.name),
    enabled,
    capabilities: plain(tool?.capabilities),
    schema,
    ...(schemaProblem !== undefined && { schemaProblem }),
    ...(refusal !== undefined && { refusal }),
  };
}

function readSchema(tool: ExecutableTool): { schema: unknown; schemaProblem?: string } {
  try {
    const text = JSON.stringify(tool.getSchema()) ?? "null";
    const again = JSON.stringify(tool.getSchema()) ?? "null";
    return {
      schema: JSON.parse(text),
      ...(again !== text && { schemaProblem: "getSchema() gives something else the second time" }),
    };
  } catch (error) {
    return { schema: undefined, schemaProblem: `getSchema() failed: ${errorMessage(error)}` };
  }
}

function refusalOf(tool: ExecutableTool): string | undefined {
  try {
    new ToolRegistry().register(tool);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** A copy without functions and other values that cannot be sent to another process. */
function plain(value: unknown): unknown {
  try {
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  } catch {
    return typeof value;
  }
}

function asObject(options: unknown): object {
  return typeof options === "object" && options !== null ? options : {};
}
