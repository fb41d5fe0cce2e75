import { literal, rule, subpath, text } from "../sandbox/profileText.js";
import type { PackPolicy } from "./policy.js";

/** What every program of macOS reads to start. */
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
 * The policy as a profile of `sandbox-exec` (SBPL): the last rule that matches decides. `temporary` is the private directory
 * in place of `/tmp`. There is no rule for the network, so it is denied, unix sockets included. Throws for a path that a
 * profile cannot hold.
 */
export function packProfile(policy: PackPolicy, node: string, temporary: string): string {
  const { readable, links, hidden, programs } = policy;
  return [
    "(version 1)",
    "(deny default)",
    '(import "system.sb")',
    // Once, for Node itself; without a fork nothing else can be started next to it.
    rule("allow", "process-exec*", programs ? [literal(node), ...PROGRAMS.map(subpath)] : [literal(node)]),
    ...(programs ? ["(allow process-fork)"] : ["(deny process-fork)"]),
    "(allow signal process-info* (target self))",
    "(allow sysctl-read)",
    // Names and attributes on the way to a file: Node resolves links by them.
    rule("allow", "file-read-metadata", [subpath("/")]),
    rule(
      "allow",
      "file-read*",
      [node, ...SYSTEM, ...(programs ? PROGRAMS : []), ...readable, temporary].map(subpath),
    ),
    rule("allow", "file-read*", [...DEVICES, "/", ...links.map(({ path }) => path)].map(literal)),
    rule("allow", "file-write-data", ["/dev/null"].map(literal)),
    rule("allow", "file-write*", [subpath(temporary)]),
    rule("deny", "file-read* file-write*", hidden.map(subpath)),
    "(deny file-write-setugid)",
    "(deny network*)",
    `(deny mach-lookup (global-name ${text("com.apple.SecurityServer")}))`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}
