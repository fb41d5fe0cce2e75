import { expect, test } from "vitest";
import { addressKind } from "./address.js";
import { createHostList } from "./hosts.js";
import { bareHost, parseUrl } from "./url.js";

test.for([
  ["8.8.8.8", "public"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["0.0.0.0", "reserved"],
  ["10.1.2.3", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["172.32.0.1", "public"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "private"],
  ["100.100.100.200", "metadata"],
  ["100.128.0.1", "public"],
  ["168.63.129.16", "metadata"],
  ["169.254.169.254", "link-local"],
  ["192.0.0.192", "metadata"],
  ["192.0.2.1", "reserved"],
  ["198.18.0.1", "private"],
  ["224.0.0.1", "reserved"],
  ["239.255.255.250", "reserved"],
  ["255.255.255.255", "reserved"],
  ["2606:4700:4700::1111", "public"],
  ["::1", "loopback"],
  ["::", "reserved"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::ffff:169.254.169.254", "link-local"],
  ["::ffff:8.8.8.8", "public"],
  ["::127.0.0.1", "reserved"],
  ["64:ff9b::7f00:1", "loopback"],
  ["64:ff9b::a9fe:a9fe", "link-local"],
  ["64:ff9b::808:808", "public"],
  ["64:ff9b:1::1", "reserved"],
  ["2002:7f00:1::", "reserved"],
  ["2001:0:4136:e378::", "reserved"],
  ["2001:db8::1", "reserved"],
  ["fc00::1", "private"],
  ["fd00:ec2::254", "metadata"],
  ["fd12:3456::1", "private"],
  ["fe80::1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["ff02::1", "reserved"],
  ["not an address", "reserved"],
] as const)("classifies %s as %s", ([address, kind]) => {
  expect(addressKind(address)).toBe(kind);
});

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
