/**
 * Where a program says what it passes as `context` to `chat`, once for all tools, hooks and `approve`.
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

/** What the caller of `chat` passed as `context`: of the type a program gave to `Register`, or unknown. */
export type CallContext = Register extends { context: infer Context } ? Context : unknown;
