import { foldPath } from "../paths/foldPath.js";
import { isInside } from "../paths/isInside.js";
import { quotePath } from "../text/describe.js";

const OUTSIDE = "outside the project";

/** Core's types of these names, in which they are documented; this package lies below core. */
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
  /** The call takes along everything below the path: it moves, copies or removes a directory. */
  readonly withContents?: boolean;
}

/**
 * What a user has to grant before a tool reads or writes (or moves, or removes) a canonical path: `undefined` if the
 * rules let it pass. Without rules everything passes.
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
 * Throws, with what to do about it, unless the rules let the access pass or a user granted it for this call. A tool
 * asks with the canonical path of what it really opened or holds open. A grant for a directory covers what is in it.
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

/** Compares without regard to case: on many disks ".SSH" is ".ssh". */
function isSecret(place: string, path: string, { withContents }: AccessOptions): boolean {
  const [secret, folded] = [foldPath(place), foldPath(path)];
  return isInside(secret, folded) || (withContents === true && isInside(folded, secret));
}
