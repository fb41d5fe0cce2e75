import {
  type ExecutableTool,
  type PackRegistry,
  registerPack,
  type ToolPack,
  ToolRegistry,
} from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { importDependencies } from "./dependencies.js";
import { createHost } from "./host.js";
import type { Inspection, Registration, SeenTool } from "./messages.js";
import { changesSince, takeSnapshot } from "./snapshot.js";

const UNKNOWN_OPTION = "agentTestingUnknownOption";
const NOTHING: Registration = { tools: [] };

/** Imports the pack and registers it a few times, and records what that changes in the process. */
export async function inspect(module: string, options: unknown): Promise<Inspection> {
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
  };
}

/** The tools that a pack registers. This registry refuses nothing, so that one run finds all faults. */
export function collectTools(pack: ToolPack, options: unknown): { tool: ExecutableTool; enabled: boolean }[] {
  const found: { tool: ExecutableTool; enabled: boolean }[] = [];
  const named = (name: string) => found.find(({ tool }) => tool.name === name);
  const lenient: PackRegistry = {
    register: (tool, { enabled = true } = {}) => void found.push({ tool, enabled }),
    unregister: (name) => {
      const entry = named(name);
      if (entry) found.splice(found.indexOf(entry), 1);
    },
    enable: () => false,
    disable: (name) => {
      const entry = named(name);
      if (entry) entry.enabled = false;
      return entry !== undefined;
    },
    hasTool: (name) => named(name) !== undefined,
    isToolEnabled: (name) => named(name)?.enabled ?? false,
    getToolNames: () => found.map(({ tool }) => tool.name),
  };
  registerPack(lenient, pack, createHost(options));
  return found;
}

function registration(pack: ToolPack, options: unknown): Registration {
  try {
    return { tools: collectTools(pack, options).map(({ tool, enabled }) => describeTool(tool, enabled)) };
  } catch (error) {
    return { error: errorMessage(error), tools: [] };
  }
}

function describeTool(tool: ExecutableTool, enabled: boolean): SeenTool {
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
