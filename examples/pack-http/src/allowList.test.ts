import { expect, test } from "vitest";
import { createAllowList } from "./allowList.js";

test.for([
  [["example.com"], "https://example.com/a", true],
  [["EXAMPLE.com"], "http://example.COM/", true],
  [["example.com"], "https://example.com:8443/", false],
  [["example.com"], "https://sub.example.com/", false],
  [["example.com"], "https://example.com.evil.net/", false],
  [["example.com"], "https://notexample.com/", false],
  [["*.example.com"], "https://a.b.example.com/", true],
  [["*.example.com"], "https://example.com/", false],
  [["*.example.com"], "https://badexample.com/", false],
  [["localhost:8080"], "http://localhost:8080/", true],
  [["localhost:8080"], "http://localhost/", false],
  [["localhost:80"], "http://localhost/", true],
  [["localhost:443"], "http://localhost/", false],
  [["127.0.0.1"], "http://2130706433/", true],
  [["127.0.0.1"], "http://[::1]/", false],
  [["[::1]:80"], "http://[::1]/", true],
  [[], "https://example.com/", false],
] as const)("%j and %s: %s", ([entries, url, allowed]) => {
  expect(createAllowList(entries)(new URL(url))).toBe(allowed);
});

test.for(["", "*", "a b", "user@host", "host/path", "*.*.com", "http://host", "host:99999"])(
  "refuses %j",
  (entry) => {
    expect(() => createAllowList([entry])).toThrow("is not a host");
  },
);
