import { typedSchema } from "@agent/core";
import { packOptions } from "@agent/core/toolkit";

export const PACK_NAME = "@agent/tools-fs";

/** The pack's options in the config. */
export interface FsOptions {
  /** Confines every path to this directory, after resolving symlinks. Default: not confined. */
  readonly root?: string;
  /** Paths that are never written, moved or removed; replaces the built-in list. `[]` disables it. */
  readonly protect?: readonly string[];
  /** The maximum number of bytes one `read_file` returns. Default 65536 (64 KiB). */
  readonly maxReadBytes?: number;
  /** The maximum number of lines one `read_file` returns. Default 2000. */
  readonly maxReadLines?: number;
  /** The maximum number of entries one `list_dir` returns. Default 1000. */
  readonly maxEntries?: number;
  /**
   * How the model changes files: with `edit_file` ("replace"), with `apply_patch` ("patch"), or with the one that its
   * model family was trained on ("auto", the default).
   */
  readonly edit?: "auto" | "replace" | "patch";
}

export interface FsLimits {
  readonly maxReadBytes: number;
  readonly maxReadLines: number;
  readonly maxEntries: number;
}

export const DEFAULT_LIMITS: FsLimits = {
  maxReadBytes: 64 * 1024,
  maxReadLines: 2000,
  maxEntries: 1000,
};

const PROPERTIES = {
  root: { type: "string", minLength: 1 },
  protect: { type: "array", items: { type: "string", minLength: 1 } },
  // A larger text would not fit one string; with a smaller limit a character of several bytes would not fit one window.
  maxReadBytes: { type: "integer", minimum: 16, maximum: 256 * 1024 * 1024 },
  maxReadLines: { type: "integer", minimum: 1 },
  maxEntries: { type: "integer", minimum: 1 },
  edit: { type: "string", enum: ["auto", "replace", "patch"] },
};

export const OPTIONS = typedSchema<FsOptions>({ type: "object", properties: PROPERTIES });

/** Checks the options of a workspace that is created without the pack. Throws for anything unknown or mistyped. */
export function checkedOptions(options: FsOptions | undefined): FsOptions {
  return packOptions<FsOptions>(PACK_NAME, options, PROPERTIES);
}
