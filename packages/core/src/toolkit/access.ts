import * as shared from "@agent/internal";

/** A file that runs code, or changes where code comes from, without the user asking for it. */
export type ProtectedFile = shared.ProtectedFile;

/**
 * The access that the user has to grant before a tool reads or writes a canonical path under the host's rules;
 * `undefined` if none is needed. For `needs` of a description.
 *
 * @example
 * ```ts
 * import { findAccessNeed } from "@agent/core/toolkit";
 *
 * const rules = { writable: ["/srv/app"] }; // host.access
 * console.log(findAccessNeed(rules, "write", "/srv/app/a.txt")); // undefined
 * console.log(findAccessNeed(rules, "write", "/etc/hosts")?.reason); // outside the project
 * ```
 */
export const findAccessNeed = shared.findAccessNeed;

/**
 * Throws, with the next step, unless the host's rules allow the access or the user granted it for this call.
 *
 * @example
 * ```ts
 * import { assertAccess } from "@agent/core/toolkit";
 *
 * const rules = { writable: ["/srv/app"] }; // host.access
 * assertAccess(rules, "write", "/etc/hosts", [{ kind: "write", path: "/etc/hosts", reason: "" }]); // call.granted
 * try {
 *   assertAccess(rules, "write", "/etc/passwd", []);
 * } catch {
 *   console.log("refused"); // refused
 * }
 * ```
 */
export const assertAccess = shared.assertAccess;

/**
 * Whether reading this canonical path could expose the memory, environment or open files of a process, which may
 * contain keys.
 *
 * @example
 * ```ts
 * import { isProcessSecret } from "@agent/core/toolkit";
 *
 * console.log(isProcessSecret("/proc/self/environ"), isProcessSecret("/proc/self/status")); // true false
 * ```
 */
export const isProcessSecret = shared.isProcessSecret;

/**
 * Throws if `isProcessSecret(path)`. `shown` is the path as the model wrote it, for the message.
 *
 * @example
 * ```ts
 * import { assertNotProcessSecret } from "@agent/core/toolkit";
 *
 * try {
 *   assertNotProcessSecret("/proc/1/environ", "link.txt");
 * } catch {
 *   console.log("refused"); // refused
 * }
 * ```
 */
export const assertNotProcessSecret = shared.assertNotProcessSecret;

/**
 * Like `assertNotProcessSecret`, but checks what a file descriptor really opened: a symlink or a procfs mounted
 * elsewhere cannot hide it.
 *
 * @example
 * ```ts
 * import { closeSync, fstatSync, openSync } from "node:fs";
 * import { assertOpenedIsNotProcessSecret } from "@agent/core/toolkit";
 *
 * const descriptor = openSync("a.txt", "w");
 * assertOpenedIsNotProcessSecret(descriptor, fstatSync(descriptor), "a.txt");
 * closeSync(descriptor);
 * console.log("a plain file"); // a plain file
 * ```
 */
export const assertOpenedIsNotProcessSecret = shared.assertOpenedIsNotProcessSecret;

/**
 * Files that run code on the user's next command, such as git hooks and shell profiles: a tool refuses to write them, or asks.
 *
 * @example
 * ```ts
 * import { PROTECTED_FILES } from "@agent/core/toolkit";
 *
 * console.log(PROTECTED_FILES.length > 0); // true
 * ```
 */
export const PROTECTED_FILES = shared.PROTECTED_FILES;

/**
 * Whether a name matches a pattern with at most one `*`, as in `PROTECTED_FILES`.
 *
 * @example
 * ```ts
 * import { matchesName } from "@agent/core/toolkit";
 *
 * console.log(matchesName(".env*", ".env.local")); // true
 * ```
 */
export const matchesName = shared.matchesName;

/**
 * Environment variables that commonly hold the keys of model providers: pass none of them to a program.
 *
 * @example
 * ```ts
 * import { KEY_VARIABLES } from "@agent/core/toolkit";
 *
 * console.log(KEY_VARIABLES.includes("OPENAI_API_KEY")); // true
 * ```
 */
export const KEY_VARIABLES = shared.KEY_VARIABLES;

/**
 * Whether a variable, header, option or parameter with this name holds a secret such as a key, token or password.
 *
 * @example
 * ```ts
 * import { isSecretName } from "@agent/core/toolkit";
 *
 * console.log(isSecretName("ACME_TOKEN"), isSecretName("author")); // true false
 * ```
 */
export const isSecretName = shared.isSecretName;

/**
 * Whether a value is a secret whatever its name: a key of a well-known issuer, or a URL with a password.
 *
 * @example
 * ```ts
 * import { isSecretValue } from "@agent/core/toolkit";
 *
 * console.log(isSecretValue("https://user:word@example.com"), isSecretValue("main")); // true false
 * ```
 */
export const isSecretValue = shared.isSecretValue;
