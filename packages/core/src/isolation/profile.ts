import { literal, rule, subpath, text } from "../sandbox/profileText.js";
import type { PackPolicy } from "./policy.js";

/** Paths that every macOS program reads to start. */
const SYSTEM = [
  "/usr/lib",
  "/usr/share",
  "/System",
  "/Library/Preferences/.GlobalPreferences.plist",
  "/private/etc/localtime",
];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
const PROGRAMS = ["/bin", "/usr/bin", "/usr/local", "/opt/homebrew"];

/**
 * Renders the policy as a `sandbox-exec` profile (SBPL), in which the last matching rule decides. `temporary` is the
 * private directory that replaces `/tmp`. There is no network rule, so all network access is denied, including Unix
 * sockets. Throws for a path that a profile cannot contain.
 */
export function packProfile(policy: PackPolicy, node: string, temporary: string): string {
  const { readable, writable = [], links, hidden, programs } = policy;
  return [
    "(version 1)",
    "(deny default)",
    '(import "system.sb")',
    // One exec, for Node itself; without a fork no other program can be started.
    rule("allow", "process-exec*", programs ? [literal(node), ...PROGRAMS.map(subpath)] : [literal(node)]),
    ...(programs ? ["(allow process-fork)"] : ["(deny process-fork)"]),
    "(allow signal process-info* (target self))",
    "(allow sysctl-read)",
    // Metadata of parent directories: Node needs it to resolve symlinks.
    rule("allow", "file-read-metadata", [subpath("/")]),
    rule(
      "allow",
      "file-read*",
      [node, ...SYSTEM, ...(programs ? PROGRAMS : []), ...readable, ...writable, temporary].map(subpath),
    ),
    rule("allow", "file-read*", [...DEVICES, "/", ...links.map(({ path }) => path)].map(literal)),
    rule("allow", "file-write-data", ["/dev/null"].map(literal)),
    rule("allow", "file-write*", [temporary, ...writable].map(subpath)),
    rule("deny", "file-read* file-write*", hidden.map(subpath)),
    "(deny file-write-setugid)",
    "(deny network*)",
    `(deny mach-lookup (global-name ${text("com.apple.SecurityServer")}))`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}
