/**
 * A program declares here the type of the `context` it passes to `chat`, once for all tools, hooks and `approve`.
 *
 * @example
 * ```ts
 * declare module "@agent/core" {
 *   interface Register {
 *     context: { readonly user: string };
 *   }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: programs add to it by declaration merging.
export interface Register {}

/** The type of the `context` passed to `chat`: declared by the program in `Register`, or `unknown`. */
export type CallContext = Register extends { context: infer Context } ? Context : unknown;
