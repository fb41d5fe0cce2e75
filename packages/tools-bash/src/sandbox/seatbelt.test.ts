import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { CommandNetwork } from "./network/commandNetwork.js";
import type { SandboxPolicy } from "./policy.js";
import { Sandbox } from "./sandbox.js";
import { seatbeltProfile, startSeatbelt } from "./seatbelt.js";
import { resolveSandbox } from "./settings.js";

const POLICY: SandboxPolicy = {
  writable: ["/Users/ada/project"],
  guarded: { paths: [], names: [] },
  shown: [],
  hidden: [],
  network: false,
  unixSockets: false,
};
const GUARDED = [".git/hooks", "*.code-workspace"].map((path) => ({ root: "/Users/ada/project", path }));
const lines = (policy: Partial<SandboxPolicy> = {}, guarded = GUARDED): string[] =>
  seatbeltProfile({ ...POLICY, ...policy }, guarded).split("\n");
const at = (all: readonly string[], start: string): number => all.findIndex((line) => line.startsWith(start));

test("denies by default, and narrows what it allows: the last rule that matches wins", () => {
  const profile = lines({ hidden: ["/Users/ada/.ssh"], shown: ["/private/var/folders/x/output"] });
  expect(profile.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  const order = [
    "(allow file-read*)",
    '(deny file-read-data file-read-xattr (subpath "/private/tmp")',
    '(allow file-read* (subpath "/Users/ada/project") (subpath "/private/var/folders/x/output"))',
    '(allow file-write* (subpath "/Users/ada/project"))',
    '(deny file-write* (subpath "/private/var/folders/x/output"))',
    '(deny file-write* (regex #"^/Users/ada/project/\\.[gG][iI][tT]/[hH][oO][oO][kK][sS](/|$)")',
    '(deny file-read* file-write* network* (subpath "/Users/ada/.ssh"))',
    '(deny file-write-unlink (literal "/Users/ada/project/.git"))',
    "(deny file-write-setugid)",
  ].map((start) => at(profile, start));
  expect(order).toEqual([...order].sort((one, other) => one - other));
  expect(order).not.toContain(-1);
  expect(profile.at(-1)).toBe("(deny file-write-setugid)");
});

test("allows only system services for accounts, not the key chain or the launch of other programs", () => {
  const services = lines({ network: true }).filter((line) => line.includes("mach-lookup"));
  expect(services.join("\n")).not.toMatch(/SecurityServer|launchservices|coreservices|appleevents|pboard/i);
});

test("has no rule for the network without one, one port with a proxy, and sockets only if they are wanted", () => {
  expect(lines().filter((line) => line.startsWith("(allow") && line.includes("network"))).toEqual([]);
  expect(lines({ network: { proxyPort: 3128 } }).filter((line) => line.startsWith("(allow network"))).toEqual(
    ['(allow network-outbound (remote ip "localhost:3128"))'],
  );
  expect(lines({ network: true })).toContain('(allow network-outbound (remote ip "*:*"))');
  expect(lines({ unixSockets: true })).toContain('(allow network* (subpath "/Users/ada/project"))');
});

test("opens the proxy for hosts on a port of the machine, the only one that the profile allows", async () => {
  const asked: string[] = [];
  const network = new CommandNetwork({
    patterns: [],
    command: "curl",
    env: { KEPT: "yes" },
    permit: async ({ permission }) => {
      asked.push(permission);
      return "refused";
    },
  });
  onTestFinished(() => network.close());
  const { port, env } = await network.listen();
  expect(env).toMatchObject({
    KEPT: "yes",
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    https_proxy: env.HTTPS_PROXY,
  });
  const { argv, finish } = startSeatbelt({ ...POLICY, network: { proxyPort: port } }, [], {
    argv: ["/bin/ls"],
    env,
  });
  onTestFinished(finish);
  expect(argv).toContain(`HTTPS_PROXY=http://127.0.0.1:${port}`);
  expect(argv.some((word) => /^npm_config_cache=.*agent-sandbox-.*\/caches\/npm$/.test(word))).toBe(true);
  const profile = (argv[2] ?? "").split("\n").filter((line) => line.startsWith("(allow network"));
  expect(profile).toEqual([`(allow network-outbound (remote ip "localhost:${port}"))`]);
  const socket = connect(port, "127.0.0.1");
  socket.write("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n");
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 403 /);
  expect(asked).toEqual(["net.connect(other.example)"]);
  expect([...network.refusals.keys()].join()).toContain("other.example");
});

test("leaves out a rule without paths, which would cover everything", () => {
  for (const line of lines({ writable: [] }, [])) {
    expect(line).not.toMatch(/^\((?:allow|deny) (?:file-write\*|file-write-unlink|network\*)\s*\)$/);
  }
});

test("escapes paths, so that no name of a directory becomes a rule", () => {
  const root = '/tmp/a"))(allow default)(deny x (literal "\\b';
  const profile = lines({ writable: [root], hidden: [`${root}/key"s`] }, [{ root, path: ".git/config" }]);
  const text = '/tmp/a\\"))(allow default)(deny x (literal \\"\\\\b';
  expect(profile).toContain(`(allow file-write* (subpath "${text}"))`);
  expect(profile).toContain(`(deny file-read* file-write* network* (subpath "${text}/key\\"s"))`);
  // No raw quotation mark is within the literal of a regular expression.
  for (const line of profile)
    for (const [, body] of line.matchAll(/#"(.*?)"\)/g)) expect(body).not.toContain('"');
  // Without its strings the profile has balanced brackets, and no rule that the name wrote.
  const bare = profile
    .join("\n")
    .replace(/#"[^"]*"/g, "")
    .replace(/"(?:\\.|[^"\\])*"/g, "");
  expect(bare).not.toContain("allow default");
  expect(bare.split("(").length).toBe(bare.split(")").length);
});

test("refuses a path with control characters", () => {
  expect(() => lines({ hidden: ["/Users/ada/a\nb"] })).toThrow(/control characters.*Nothing was run/);
  expect(() => lines({}, [{ root: "/Users/ada/a\u0000b", path: ".envrc" }])).toThrow("control characters");
});

test("keeps a directory above a hidden place from being renamed", () => {
  const profile = lines({ hidden: ["/Users/ada/project/a/b/keys", "/Users/ada/.ssh"] }, []);
  expect(profile).toContain(
    '(deny file-write-unlink (literal "/Users/ada/project/a/b") (literal "/Users/ada/project/a"))',
  );
});

// Defined only where it can run: the public CI has a macOS job.
if (process.platform === "darwin") {
  test("works on macOS", async () => {
    const status = await new Sandbox(resolveSandbox("auto")).status();
    expect(status.problem).toBeUndefined();
    expect(status.level).toBe("sandbox-exec");
  });
}
