/** Variables that programs need to find themselves and their files. None of them holds a secret. */
const SAFE_NAMES = new Set([
  "HOME",
  "LANG",
  "LANGUAGE",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
  // Windows programs do not start without these.
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
]);

/**
 * The variables of an environment that any program may get: an allow list, so that it never contains a key by accident.
 *
 * @example
 * ```ts
 * import { safeVariables } from "@agent/core/toolkit";
 *
 * console.log(Object.keys(safeVariables({ HOME: "/home/a", ACME_TOKEN: "x" })).join()); // HOME
 * ```
 */
export function safeVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const upper = name.toUpperCase();
    if (value !== undefined && (SAFE_NAMES.has(upper) || upper.startsWith("LC_"))) variables[name] = value;
  }
  return variables;
}
