import type { ToolPack } from "./pack.js";

/** What a pack must not lose if its author forgets to export it: without its secrets and limits it would run otherwise. */
const OPTIONAL_EXPORTS = ["secrets", "needs"] as const;
/** On `register`: the names that must be exported. Registered globally, because a pack may have its own copy of core. */
const DECLARED = Symbol.for("@agent/core/declared");

type Register = ToolPack["register"] & { readonly [DECLARED]?: readonly string[] };

/** Notes on `register` what a pack declares. */
export function withDeclarations<Pack extends object>(pack: Pack & { readonly register: object }): Pack {
  const declared = OPTIONAL_EXPORTS.filter((name) => pack[name as keyof Pack] !== undefined);
  Object.defineProperty(pack.register, DECLARED, { value: declared });
  return pack;
}

/** Why a pack module lacks what it declares with `definePack`; `undefined` if it exports all of it. */
export function findMissingExport(pack: ToolPack): string | undefined {
  const declared = (pack.register as Register)[DECLARED] ?? [];
  const missing = declared.filter((name) => pack[name as keyof ToolPack] === undefined);
  if (missing.length === 0) return undefined;
  const names = ["packName", "packApiVersion", ...declared, "register"];
  return `it declares ${missing.join(" and ")} in definePack and does not export that. Write: export const { ${names.join(", ")} } = definePack(…)`;
}
