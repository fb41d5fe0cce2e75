import type { PackHost, ToolPack } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { Collection } from "./collect.js";
import { importDependencies } from "./dependencies.js";
import { createWholeHost } from "./host.js";
import type { Inspection, Registration, Task } from "./messages.js";
import { describeTool, plain } from "./seenTool.js";
import { changesSince, takeSnapshot } from "./snapshot.js";

const UNKNOWN_OPTION = "agentTestingUnknownOption";
const NOTHING: Registration = { tools: [], announcesMore: false, secrets: [], services: [] };

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
      whole: NOTHING,
      serviceProblems: [],
    };
  }
  const importEffects = changesSince(beforeImport);
  const beforeRegister = takeSnapshot();
  const first = registration(pack, options);
  const second = registration(pack, options);
  const whole = registration(pack, options, createWholeHost(options));
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
    whole,
    serviceProblems: [
      ...new Set([
        ...serviceProblems(pack, options),
        ...serviceProblems(pack, options, createWholeHost(options)),
      ]),
    ],
    ...(unknownOptionRefusal !== undefined && { unknownOptionRefusal }),
  };
}

function serviceProblems(pack: ToolPack, options: unknown, host?: PackHost): string[] {
  try {
    return new Collection(pack, options, host).serviceProblems();
  } catch {
    // The pack does not register, which another check reports.
    return [];
  }
}

function registration(pack: ToolPack, options: unknown, host?: PackHost): Registration {
  try {
    const { tools, announcesMore, secrets, services } = new Collection(pack, options, host);
    return {
      tools: tools.map(describeTool),
      announcesMore,
      secrets: [...secrets],
      services: [...services],
    };
  } catch (error) {
    return { ...NOTHING, error: errorMessage(error) };
  }
}

function asObject(options: unknown): object {
  return typeof options === "object" && options !== null ? options : {};
}
