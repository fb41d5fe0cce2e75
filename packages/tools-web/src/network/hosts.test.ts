import { expect, test } from "vitest";
import { createHostList } from "./hosts.js";
import { bareHost, parseUrl } from "./url.js";

test.for([
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://017700000001/", "127.0.0.1"],
  ["http://2130706433/", "127.0.0.1"],
  ["http://127.1/", "127.0.0.1"],
  ["http://127.0.0.1./", "127.0.0.1"],
  ["http://①②⑦.⓪.⓪.①/", "127.0.0.1"],
  ["http://[::ffff:169.254.169.254]/", "::ffff:a9fe:a9fe"],
  ["http://[0:0:0:0:0:ffff:7f00:1]/", "::ffff:7f00:1"],
  ["http://localhost./", "localhost"],
  ["http://LOCALHOST../", "localhost"],
  ["http://bücher.example/", "xn--bcher-kva.example"],
] as const)("reads %s as the host %s", ([text, host]) => {
  expect(bareHost(parseUrl(text))).toBe(host);
});

test.for([
  ["ftp://example.com/", /must start with http/],
  ["file:///etc/passwd", /must start with http/],
  ["javascript:alert(1)", /must start with http/],
  ["http://me:secret@example.com/", /user name or password/],
  ["http://me@example.com/", /user name or password/],
  ["http://*.example.com/", /no valid host name/],
  ["example.com/page", /is not a URL/],
  ["http://", /is not a URL/],
  [`https://example.com/${"a".repeat(9000)}`, /at most 8192/],
] as const)("refuses %s", ([text, message]) => {
  expect(() => parseUrl(text)).toThrow(message);
});

test.for([
  [["example.com"], "https://example.com/a", true],
  [["EXAMPLE.com."], "http://example.COM/", true],
  [["example.com"], "https://example.com:8443/", false],
  [["example.com"], "https://example.com.evil.net/", false],
  [["*.example.com"], "https://a.b.example.com/", true],
  [["*.example.com"], "https://example.com/", false],
  [["*.example.com"], "https://badexample.com/", false],
  [["localhost:8080"], "http://localhost:8080/", true],
  [["localhost:8080"], "http://localhost/", false],
  [["localhost:*"], "http://localhost:1234/", true],
  [["localhost:443"], "http://localhost/", false],
  [["127.0.0.1"], "http://2130706433/", true],
  [["[::1]:80"], "http://[::1]/", true],
  [[], "https://example.com/", false],
] as const)("checks whether %j contains %s: %s", ([entries, url, expected]) => {
  expect(createHostList("allow", entries)(parseUrl(url))).toBe(expected);
});

test.for(["", "*", "a b", "user@host", "host/path", "*.*.com", "http://host", "host:99999", ":*"])(
  "refuses %j as a host",
  (entry) => {
    expect(() => createHostList("allow", [entry])).toThrow("is not a host");
  },
);
