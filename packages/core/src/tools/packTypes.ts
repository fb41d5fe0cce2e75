import type { ExecutableTool } from "./interface.js";
import type { PackRegistry, ToolPack } from "./pack.js";

/**
 * Packs by the name of their package, so that an editor knows the options and tools of a pack that a config only names.
 * A pack adds itself. A typed config that names it also needs `import type {} from "@acme/agent-pack-weather"`.
 *
 * @example
 * ```ts
 * import type { PackHost, PackRegistry } from "@agent/core";
 *
 * export function register(registry: PackRegistry<"weather_now">, host?: PackHost<{ readonly city?: string }>): void {
 *   void [registry, host];
 * }
 *
 * declare module "@agent/core" {
 *   interface NamedPacks {
 *     "@acme/agent-pack-weather": { register: typeof register };
 *   }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: packs add to it by declaration merging.
export interface NamedPacks {}

/** A pack, a pack with its options, or a single tool: `fs`, `[fs, { root: "." }]`, `defineTool({ … })`. */
export type PackEntry = ToolPack | readonly [pack: ToolPack, options: unknown] | ExecutableTool;

/** `string` that does not absorb the literals beside it in a union, so that an editor still completes those. */
export type AnyText = string & Record<never, never>;

/** The pack an entry means: a name stands for the pack that added itself under it. */
type Named<Pack> = Pack extends keyof NamedPacks ? NamedPacks[Pack] : Pack;

/** The options of a pack, from the host type its `register` declares. `unknown` if it declares none. */
export type PackOptions<Pack> =
  Named<Pack> extends { readonly register: (registry: never, host: infer Host) => unknown }
    ? NonNullable<Host> extends { readonly options?: infer Options }
      ? Options
      : unknown
    : unknown;

/** The tool names of an entry: those its `register` declares, or the tool's own. `string` where it declares none. */
type EntryTools<Entry> = Entry extends readonly [infer Pack, unknown]
  ? PackTools<Named<Pack>>
  : PackTools<Named<Entry>>;

type PackTools<Pack> = Pack extends { readonly register: (registry: infer Registry, host: never) => unknown }
  ? Registry extends PackRegistry<infer Names>
    ? Names
    : string
  : Pack extends { readonly name: infer Name extends string }
    ? Name
    : string;

/**
 * The names of the tools that these entries bring. An editor completes them; any other name is a mistake, unless one of
 * the packs does not say what it brings.
 */
export type ToolNames<Entries extends readonly unknown[], Own extends string = never> =
  string extends EntryTools<Entries[number]>
    ? KnownTools<Entries> | Own | AnyText
    : EntryTools<Entries[number]> | Own;

/** The names that some entries declare, where others declare none. */
type KnownTools<Entries extends readonly unknown[]> = {
  [Key in keyof Entries]: string extends EntryTools<Entries[Key]> ? never : EntryTools<Entries[Key]>;
}[number];

/** The entries with each pack's options narrowed to the type that the pack takes. */
export type CheckedPacks<Entries extends readonly unknown[]> = {
  readonly [Key in keyof Entries]: Entries[Key] extends readonly [infer Pack, unknown]
    ? readonly [pack: Pack, options: PackOptions<Pack>]
    : Entries[Key];
};

/** The names of all tools an agent with these packs has, its own `save_session_context` included. */
export type AgentToolNames<Entries extends readonly unknown[]> = ToolNames<Entries, "save_session_context">;
