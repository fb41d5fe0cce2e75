import { typedSchema } from "@agent/core";
import { packOptions } from "@agent/core/toolkit";
import type { PolicyRule } from "./policy/rules.js";
import type { LimitOptions } from "./processes/limits.js";
import type { SandboxMode, SandboxOptions } from "./sandbox/settings.js";

export const PACK_NAME = "@agent/tools-bash";

/** The pack's options. All are optional. */
export interface BashOptions {
  /** Commands that are refused. */
  readonly deny?: readonly PolicyRule[];
  /** If set, only these commands run. */
  readonly allow?: readonly PolicyRule[];
  readonly limits?: LimitOptions;
  /**
   * Names of environment variables that are withheld from commands; `*` matches any characters. Default: keys of model
   * providers.
   */
  readonly hideEnv?: readonly string[];
  /** The absolute path of the shell. Default `/bin/sh`; on Windows Git Bash or the bash of WSL. */
  readonly shell?: string;
  /** Default: decided by the host (`PackHost.containment`), otherwise `"off"`. */
  readonly sandbox?: SandboxMode | SandboxOptions;
}

const limit = { anyOf: [{ type: "number", exclusiveMinimum: 0 }, { const: false }] };
const strings = { type: "array", items: { type: "string", minLength: 1 } };
const rules = {
  type: "array",
  minItems: 1,
  items: {
    anyOf: [
      { type: "string", minLength: 1 },
      {
        type: "object",
        properties: {
          command: { type: "string", minLength: 1 },
          match: strings,
          notMatch: strings,
          reason: { type: "string", minLength: 1 },
        },
        required: ["command"],
        additionalProperties: false,
      },
    ],
  },
};
const mode = { enum: ["off", "auto", "require"] };

const PROPERTIES = {
  deny: rules,
  allow: rules,
  limits: {
    type: "object",
    properties: {
      timeoutMs: { type: "number", exclusiveMinimum: 0 },
      cpuSeconds: limit,
      memoryMb: limit,
      processes: limit,
      fileMb: limit,
    },
    additionalProperties: false,
  },
  hideEnv: strings,
  shell: { type: "string", pattern: "^(/|[A-Za-z]:[\\\\/])" },
  sandbox: {
    anyOf: [
      mode,
      {
        type: "object",
        properties: {
          mode,
          network: {
            anyOf: [
              { type: "boolean" },
              {
                type: "object",
                properties: { hosts: strings },
                required: ["hosts"],
                additionalProperties: false,
              },
            ],
          },
          unixSockets: { type: "boolean" },
          writable: strings,
          passEnv: strings,
        },
        additionalProperties: false,
      },
    ],
  },
};

export const OPTIONS = typedSchema<BashOptions>({ type: "object", properties: PROPERTIES });

/** Checks the options of the tool without the pack. Throws for anything unknown or mistyped. */
export function checkedOptions(options: BashOptions | undefined): BashOptions {
  return packOptions<BashOptions>(PACK_NAME, options, PROPERTIES);
}
