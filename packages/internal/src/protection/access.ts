import { foldPath } from "../paths/foldPath.js";
import { isInside } from "../paths/isInside.js";
import { quotePath } from "../text/describe.js";

const OUTSIDE = "outside the project";

/** Core's types of these names, where they are documented; this package is below core. */
interface AccessNeed {
  readonly kind: "read" | "write";
  readonly path: string;
  readonly reason: string;
}

interface AccessRules {
  readonly writable?: readonly string[];
  readonly secret?: readonly string[];
}

interface AccessOptions {
  /** The call includes everything below the path: it moves, copies or removes a directory. */
  readonly withContents?: boolean;
}

/**
 * The access that the user has to grant before a tool reads or writes a canonical path under the host's rules;
 * `undefined` if none is needed. For `needs` of a description. Without rules everything passes.
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
export function findAccessNeed(
  rules: AccessRules | undefined,
  kind: AccessNeed["kind"],
  path: string,
  options: AccessOptions = {},
): AccessNeed | undefined {
  const secret = rules?.secret?.find((place) => isSecret(place, path, options));
  if (secret !== undefined) {
    const where = isInside(secret, path) ? "" : ` (${secret})`;
    return { kind, path, reason: `a place of keys or credentials${where}` };
  }
  if (kind === "read" || rules?.writable === undefined) return undefined;
  if (rules.writable.some((directory) => isInside(directory, path))) return undefined;
  return { kind, path, reason: OUTSIDE };
}

/**
 * Throws, with the next step, unless the rules allow the access or the user granted it for this call. Pass the
 * canonical path of what was really opened. A grant for a directory covers its content.
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
export function assertAccess(
  rules: AccessRules | undefined,
  kind: AccessNeed["kind"],
  path: string,
  granted: readonly AccessNeed[] | undefined,
  options: AccessOptions = {},
): void {
  const need = findAccessNeed(rules, kind, path, options);
  if (need === undefined) return;
  if (granted?.some((grant) => grant.kind === kind && isInside(grant.path, path))) return;
  const verb = kind === "read" ? "reading" : "changing";
  const remedy =
    need.reason === OUTSIDE
      ? "or to allow the directory with --add-dir DIR or in the config"
      : "or to do this step themselves; the config can allow it too";
  throw new Error(
    `${quotePath(path)} is ${need.reason}, and ${verb} it needs the user's permission, which this call does not have. ` +
      `Ask the user for it, ${remedy}.`,
  );
}

/** Compares case-insensitively: on many disks ".SSH" is ".ssh". */
function isSecret(place: string, path: string, { withContents }: AccessOptions): boolean {
  const [secret, folded] = [foldPath(place), foldPath(path)];
  return isInside(secret, folded) || (withContents === true && isInside(folded, secret));
}
