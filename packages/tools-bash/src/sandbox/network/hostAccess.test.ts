import type { PermitAnswer, PermitRequest } from "@agent/core";
import { parseAuthority, parseHostPattern } from "@agent/core/sandbox";
import { expect, test, vi } from "vitest";
import type { Outside } from "./dial.js";
import { HostAccess } from "./hostAccess.js";

const PUBLIC = "93.184.215.14";

function accessWith({
  hosts = [],
  permit,
  resolve = async () => [PUBLIC],
  command = "npm ci",
}: {
  hosts?: readonly string[];
  permit?: (request: PermitRequest) => Promise<PermitAnswer>;
  resolve?: Outside["resolve"];
  command?: string;
} = {}) {
  const patterns = hosts.map((host) => parseHostPattern(host));
  const resolved = vi.fn(resolve);
  const outside = { resolve: resolved, connect: () => expect.fail("nothing connects here") };
  const access = new HostAccess({ patterns, command, outside, ...(permit && { permit }) });
  const open = (authority: string): Promise<readonly string[] | string> => {
    const destination = parseAuthority(authority, 443);
    if (!destination) return expect.fail(authority);
    return access.addressesOf(destination).catch((error: Error) => error.message);
  };
  return { access, open, resolved };
}

test("resolves an allowed name without a question", async () => {
  const permit = vi.fn(async (): Promise<PermitAnswer> => "refused");
  const { access, open } = accessWith({ hosts: ["a.example"], permit });
  expect(await open("a.example")).toEqual([PUBLIC]);
  expect(permit).not.toHaveBeenCalled();
  expect(access.refusals.size).toBe(0);
});

test.each<[answer: PermitAnswer | undefined, expected: string | readonly string[]]>([
  ["allowed", [PUBLIC]],
  [
    "refused",
    "b.example:443 is refused: the user did not allow it. Do not try it again unless the user asks.",
  ],
  [
    "unanswered",
    'b.example:443 is refused: it is not in sandbox.network.hosts, and no one answered. Add "b.example" to sandbox.network.hosts in the options of @agent/tools-bash to allow it.',
  ],
])("asks about another name before it is resolved: %s", async (answer, expected) => {
  const asked: string[] = [];
  const { access, open, resolved } = accessWith({
    hosts: ["a.example"],
    permit: async ({ permission, message }) => {
      expect(resolved).not.toHaveBeenCalled();
      asked.push(permission, message);
      return answer as PermitAnswer;
    },
  });
  expect(await open("b.example")).toEqual(expected);
  expect(asked).toEqual([
    "net.connect(b.example)",
    "It wants to connect to b.example, port 443.\nCommand: npm ci",
  ]);
  expect([...access.refusals.keys()]).toEqual(answer === "allowed" ? [] : ["b.example:443"]);
});

test("refuses another name if no one can be asked, or if the question fails", async () => {
  const { open, resolved } = accessWith();
  expect(await open("b.example")).toMatch(/no one answered/);
  expect(resolved).not.toHaveBeenCalled();
  const failing = accessWith({ permit: () => Promise.reject(new Error("closed")) });
  expect(await failing.open("b.example")).toMatch(/no one answered/);
});

test.each(["127.0.0.1", "10.0.0.1", "[::1]", "169.254.169.254"])(
  "opens the private address %s only by a pattern that is this address, never by an answer",
  async (address) => {
    const permit = vi.fn(async (): Promise<PermitAnswer> => "allowed");
    const { open } = accessWith({ hosts: ["a.example"], permit });
    expect(await open(address)).toMatch(/is refused: A private or reserved address .* literally\.$/);
    expect(permit).not.toHaveBeenCalled();
    const named = accessWith({ hosts: [address] });
    expect(await named.open(address)).toEqual([address.replace(/[[\]]/g, "")]);
  },
);

test("asks about a public address, and connects to it without resolving anything", async () => {
  const allowed = accessWith({ permit: async () => "allowed" });
  expect(await allowed.open("8.8.8.8")).toEqual(["8.8.8.8"]);
  expect(allowed.resolved).not.toHaveBeenCalled();
  const refused = accessWith({ permit: async () => "refused" });
  expect(await refused.open("8.8.8.8")).toMatch(/the user did not allow it/);
});

test("refuses an allowed name with one address that is not public", async () => {
  const { access, open } = accessWith({ hosts: ["a.example"], resolve: async () => [PUBLIC, "127.0.0.1"] });
  expect(await open("a.example")).toMatch(/it resolves to 127\.0\.0\.1\. A private or reserved address/);
  expect(access.refusals.get("a.example:443")).toContain("127.0.0.1");
  expect(await open("a.example")).toContain('such as "127.0.0.1",');
});

test.each([
  ["has no address", async () => []],
  ["cannot be looked up", () => Promise.reject(new Error("ENOTFOUND"))],
])("refuses a name that %s", async (_, resolve) => {
  const { open } = accessWith({ hosts: ["a.example"], resolve });
  expect(await open("a.example")).toBe("a.example:443 is refused: the name cannot be resolved.");
});

test("asks once for all connections to a destination, and anew for another port", async () => {
  const permit = vi.fn(async (): Promise<PermitAnswer> => "allowed");
  const { open } = accessWith({ permit });
  await Promise.all([open("b.example"), open("b.example"), open("b.example:8443")]);
  await open("b.example");
  expect(permit).toHaveBeenCalledTimes(2);
});

test("asks about 20 hosts at most, and lists 20 refusals", async () => {
  const permit = vi.fn(async (): Promise<PermitAnswer> => "refused");
  const { access, open } = accessWith({ permit });
  for (let count = 0; count < 25; count++) await open(`h${count}.example`);
  expect(permit).toHaveBeenCalledTimes(20);
  expect(await open("h24.example")).toMatch(/asked for too many hosts\. Add "h24\.example"/);
  expect(access.refusals.size).toBe(20);
  access.refuse({ host: "::1", port: 80 }, "no");
  expect(access.refusals.has("[::1]:80")).toBe(false);
});

test("counts the time in which a question is open, overlapping ones once, and withdraws it when closed", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(1000);
  const answers: ((answer: PermitAnswer) => void)[] = [];
  const signals: AbortSignal[] = [];
  const { access, open } = accessWith({
    permit: ({ signal }) => {
      signals.push(signal);
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  expect(access.waitedMs).toBe(0);
  const first = open("b.example");
  now.mockReturnValue(1100);
  const second = open("c.example");
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  now.mockReturnValue(1400);
  expect(access.waitedMs).toBe(400);
  answers[0]?.("allowed");
  await first;
  now.mockReturnValue(1500);
  answers[1]?.("allowed");
  await second;
  now.mockReturnValue(9000);
  expect(access.waitedMs).toBe(500);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  access.close();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  now.mockRestore();
});

test("shows a command on one line, and not all of a long one", async () => {
  const messages: string[] = [];
  const { open } = accessWith({
    command: `a\nb${"x".repeat(500)}`,
    permit: async ({ message }) => {
      messages.push(message);
      return "refused";
    },
  });
  await open("b.example");
  expect(messages[0]?.split("\n")).toHaveLength(2);
  expect(messages[0]).toContain("x".repeat(290));
  expect(messages[0]).not.toContain("x".repeat(300));
});
