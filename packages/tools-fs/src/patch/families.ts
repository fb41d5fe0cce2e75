/**
 * Models that were trained on the format of `apply_patch`, by the start or a part of their name. Data only: add a row
 * when a family is known to write it well.
 */
const PATCH_FAMILIES: {
  readonly startsWith: readonly string[];
  readonly includes: readonly string[];
  readonly except: readonly string[];
} = {
  startsWith: ["gpt-5", "gpt-6"],
  includes: ["codex"],
  except: ["oss"],
};

/** Whether a model was trained to edit files with patches. `openai/gpt-5.1` is matched by its last part. */
export function writesPatches(model: string | undefined): boolean {
  const name = (model ?? "").toLowerCase().split("/").at(-1) ?? "";
  const { startsWith, includes, except } = PATCH_FAMILIES;
  if (except.some((part) => name.includes(part))) return false;
  return startsWith.some((part) => name.startsWith(part)) || includes.some((part) => name.includes(part));
}
