import {
  canonicalHost,
  formatDestination,
  isPublicAddress,
  matchesPattern,
  parseAuthority,
  parseHostPattern,
} from "@agent/core/sandbox";
import { describe, expect, test } from "vitest";
import { checkedOptions } from "../../options.js";
import { resolveSandbox } from "../settings.js";

describe("patterns", () => {
  const matches = (pattern: string, authority: string): boolean => {
    const destination = parseAuthority(authority, 443);
    return destination !== undefined && matchesPattern(destination, parseHostPattern(pattern));
  };

  test.each([
    ["example.com", "example.com", true],
    ["Example.COM.", "example.com:80", true],
    ["example.com", "example.com:8080", false],
    ["example.com:8080", "example.com:8080", true],
    ["example.com:8080", "example.com", false],
    ["example.com", "a.example.com", false],
    ["example.com", "badexample.com", false],
    ["*.example.com", "a.b.example.com", true],
    ["*.example.com", "example.com", false],
    ["*.example.com", "badexample.com", false],
    ["münchen.example", "xn--mnchen-3ya.example", true],
    ["10.0.0.1", "10.1", true],
    ["[::1]:8080", "[0:0:0:0:0:0:0:1]:8080", true],
    ["127.0.0.1", "[::ffff:127.0.0.1]", false],
  ])("%s matches %s: %s", (pattern, authority, expected) => {
    expect(matches(pattern, authority)).toBe(expected);
  });

  test.each([
    "*",
    "*.com",
    "*.10.0.0.1",
    "a.*.com",
    "https://example.com",
    "example.com/x",
    "a b",
    "",
    "example.com:0",
    "example.com:99999",
    "user@example.com",
  ])("refuses the pattern %s with an example of one", (pattern) => {
    expect(() => resolveSandbox({ network: { hosts: [pattern] } })).toThrow(
      /is not a host\. Write "example\.com"/,
    );
  });

  test("requires the sandbox unless a mode is given, and refuses unknown keys", () => {
    const given = checkedOptions({ sandbox: { network: { hosts: ["example.com"] } } });
    expect(resolveSandbox(given.sandbox)).toMatchObject({
      mode: "require",
      network: [{ host: "example.com" }],
    });
    expect(() => checkedOptions({ sandbox: { network: { host: ["x"] } } } as never)).toThrow(/sandbox/);
    expect(() => checkedOptions({ sandbox: { network: "example.com" } } as never)).toThrow(/sandbox/);
  });

  test("formats a destination as the pattern that matches it", () => {
    for (const text of ["example.com", "example.com:22", "10.0.0.1", "[::1]", "[::1]:8080"]) {
      const destination = parseAuthority(text, 443);
      expect(destination && formatDestination(destination)).toBe(text);
    }
  });
});

test.each([
  ["0x7f.1", "127.0.0.1"],
  ["0177.0.0.1", "127.0.0.1"],
  ["2130706433", "127.0.0.1"],
  ["１２７.0.0.1", "127.0.0.1"],
  ["127.0.0.1.", "127.0.0.1"],
  ["[::FFFF:7f00:1]", "::ffff:7f00:1"],
  ["::ffff:127.0.0.1", "::ffff:7f00:1"],
  ["fe80::1%eth0", undefined],
  ["a_b.example", "a_b.example"],
  ["-a.example", undefined],
  ["a..b", undefined],
  ["a%2eb", undefined],
  ["1.2.3.4.5", undefined],
  ["a\0b", undefined],
  [`${"a.".repeat(130)}b`, undefined],
])("reads the host %j as %j", (text, expected) => {
  expect(canonicalHost(text)).toBe(expected);
});

describe("addresses", () => {
  test.each([
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "::ffff:808:808",
    "64:ff9b::808:808",
  ])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));
  test.each([
    ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "127.8.8.8", "169.254.169.254", "172.31.0.1", "192.168.0.1"],
    ...["192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "168.63.129.16"],
    ...[
      "::",
      "::1",
      "fe80::1",
      "fc00::1",
      "fd00:ec2::254",
      "ff02::1",
      "2001:db8::1",
      "2002:7f00:1::",
      "2001::1",
    ],
    ...[
      "::ffff:7f00:1",
      "::ffff:a9fe:a9fe",
      "64:ff9b::a00:1",
      "64:ff9b:1::808:808",
      "::808:808",
      "::ffff:0:808:808",
    ],
    ...["example.com", ""],
  ])("%s is not public", (address) => expect(isPublicAddress(address)).toBe(false));
});
