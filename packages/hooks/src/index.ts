import { resolve } from "node:path";
import { definePack, type PackHost, typedSchema } from "@agent/core";
import { errorMessage, quotePath } from "@agent/core/toolkit";
import { runBashTool, type SandboxMode, type SandboxOptions } from "@agent/tools-bash";
import { type HooksFile, readHooksFile } from "./approval.js";
import { createHooks, type HookSource } from "./hooks.js";
import { readHooks } from "./settings.js";

/** Claude Code's `hooks` block: for each event, groups of commands with a matcher. */
export type HookSettings = Readonly<Record<string, readonly HookGroup[]>>;

export interface HookGroup {
  /** Names of tools, ours or Claude Code's (`Edit|Write`), or a pattern for them. Default: all. */
  readonly matcher?: string;
  readonly hooks: readonly HookCommand[];
}

export interface HookCommand {
  readonly type: "command";
  readonly command: string;
  /** Seconds. Default 60, at most 600. */
  readonly timeout?: number;
}

/** The pack's options. */
export interface HooksOptions {
  readonly hooks?: HookSettings;
  /** Settings files in Claude Code's format, relative to the config: `.claude/settings.json`. */
  readonly files?: readonly string[];
  /** How the commands run. Default: decided by the host. */
  readonly sandbox?: SandboxMode | SandboxOptions;
}

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/hooks": { register: typeof register };
  }
}

const OPTIONS = typedSchema<HooksOptions>({
  type: "object",
  properties: {
    hooks: { type: "object" },
    files: { type: "array", items: { type: "string", minLength: 1 } },
    // Checked by the shell pack.
    sandbox: {},
  },
});

/** Runs the user's own commands before and after calls, messages and sessions. Has no tools. */
export const { packName, packApiVersion, register } = definePack({
  name: "@agent/hooks",
  options: OPTIONS,
  setup({ options, ...host }) {
    const { sandbox } = options;
    const tool = runBashTool(sandbox === undefined ? {} : { sandbox }, host);
    const sources = readSources(options, host);
    const hooks = createHooks(sources, tool, host);
    const none = { subject: "@agent/hooks", ok: true, detail: "no hooks: its options name none" };
    return {
      tools: [],
      ...(hooks && { hooks }),
      diagnose: () => {
        if (sources.length === 0) return [none];
        return sources.map(({ place, handlers, leftOut, problem }) => ({
          subject: place,
          ok: problem === undefined,
          detail: problem ?? [`${handlers.length} hooks`, ...leftOut].join("; "),
          ...(problem !== undefined && { hint: "Correct the settings: until then every call is refused." }),
        }));
      },
      dispose: () => tool.services.dispose(),
      terminate: () => tool.services.terminate(),
    };
  },
});

/** The hooks of the options and of each file. One that cannot be read refuses every call. */
function readSources(
  { hooks, files = [] }: HooksOptions,
  host: Pick<PackHost, "baseDirectory">,
): HookSource[] {
  const sources: HookSource[] = [];
  const add = (place: string, read: () => { block: unknown; file?: HooksFile }): void => {
    try {
      const { block, file } = read();
      sources.push({ place, ...readHooks(block, place), ...(file && { file }) });
    } catch (error) {
      sources.push({ place, handlers: [], leftOut: [], problem: errorMessage(error) });
    }
  };
  if (hooks !== undefined) add("options of @agent/hooks", () => ({ block: hooks }));
  for (const name of files) {
    const path = resolve(host.baseDirectory ?? process.cwd(), name);
    add(quotePath(path), () => {
      const { settings, ...file } = readHooksFile(path);
      const block = settings.disableAllHooks === true ? {} : (settings.hooks ?? {});
      return { block, file };
    });
  }
  return sources;
}
