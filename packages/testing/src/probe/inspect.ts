import type { ToolPack } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { Collection } from "./collect.js";
import { importDependencies } from "./dependencies.js";
import type { Inspection, Registration, Task } from "./messages.js";
import { describeTool, plain } from "./seenTool.js";
import { changesSince, takeSnapshot } from "./snapshot.js";

const UNKNOWN_OPTION = "agentTestingUnknownOption";
const NOTHING: Registration = { tools: [], announcesMore: false };

/** Imports the pack and registers it a few times, and records what that changes in the process. */
export async function inspect({ module, options }: Task): Promise<Inspection> {
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

function registration(pack: ToolPack, options: unknown): Registration {
  try {
    const { tools, announcesMore } = new Collection(pack, options);
    return { tools: tools.map(describeTool), announcesMore };
  } catch (error) {
    return { ...NOTHING, error: errorMessage(error) };
  }
}

function asObject(options: unknown): object {
  return typeof options === "object" && options !== null ? options : {};
}
