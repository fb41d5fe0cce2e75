import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { forwardedHeaders, headerLines, targetOf, UnusableRequest } from "./httpTarget.js";

const target = (url: string, hosts: readonly string[], tunnel?: { host: string; port: number }) =>
  targetOf(
    { url, rawHeaders: ["Accept", "*/*", ...hosts.flatMap((host) => ["HOST", host])] } as IncomingMessage,
    tunnel,
  );
const TUNNEL = { host: "a.example", port: 80 };

describe("the target of a request", () => {
  test.each([
    ["http://a.example/x?y", ["a.example"], undefined, "a.example", 80, "/x?y"],
    ["HTTP://A.Example", ["a.example"], undefined, "a.example", 80, "/"],
    ["http://a.example?y", [], undefined, "a.example", 80, "/?y"],
    ["http://a.example:8080/", ["A.EXAMPLE:8080"], undefined, "a.example:8080", 8080, "/"],
    ["http://[::1]:81/", ["[::1]:81"], undefined, "[::1]:81", 81, "/"],
    ["/x", ["a.example"], TUNNEL, "a.example", 80, "/x"],
    ["/x", [], TUNNEL, "a.example", 80, "/x"],
    ["http://a.example/x", ["a.example"], TUNNEL, "a.example", 80, "/x"],
  ] as const)("is read from %s with the hosts %j", (url, hosts, tunnel, host, port, path) => {
    const found = target(url, hosts, tunnel);
    expect(found).toMatchObject({ host, path });
    expect(found.destination.port).toBe(port);
  });

  test.each([
    ["http://user@a.example/", ["a.example"], undefined, "user information"],
    ["http://a.example/", ["a.example", "a.example"], undefined, "more than one Host"],
    ["/x", ["a.example"], undefined, "whole http:// addresses"],
    ["*", ["a.example"], TUNNEL, "whole http:// addresses"],
    ["https://a.example/", ["a.example"], undefined, "whole http:// addresses"],
    ["http://a.example/#x", ["a.example"], undefined, "whole http:// addresses"],
    ["http://a..example/", ["a.example"], undefined, "no valid host"],
    ["http://a.example/", ["b.example"], undefined, "must name the same host"],
    ["http://a.example/", ["a.example:81"], undefined, "must name the same host"],
    ["http://a.example/", ["a b"], undefined, "must name the same host"],
    ["/x", ["b.example"], TUNNEL, "must name the same host"],
    ["http://b.example/", ["b.example"], TUNNEL, "must name the same host"],
    ["http://a.example:81/", ["a.example:81"], TUNNEL, "must name the same host"],
  ] as const)("is refused for %s with the hosts %j", (url, hosts, tunnel, message) => {
    expect(() => target(url, hosts, tunnel)).toThrow(UnusableRequest);
    expect(() => target(url, hosts, tunnel)).toThrow(message);
  });
});

test("passes on the headers of a message, not those of the connection or that Connection names", () => {
  const headers = [
    ...["Connection", "close, X-Hop , content-length", "X-Hop", "1", "Content-Length", "3"],
    ...["Keep-Alive", "x", "Proxy-Authenticate", "x", "Proxy-Authorization", "x", "Proxy-Connection", "x"],
    ...[
      "TE",
      "x",
      "Trailer",
      "x",
      "Upgrade",
      "x",
      "Transfer-Encoding",
      "chunked",
      "Cookie",
      "a",
      "Cookie",
      "b",
    ],
    ...["Host", "a.example"],
  ];
  const kept = ["Content-Length", "3", "Transfer-Encoding", "chunked", "Cookie", "a", "Cookie", "b"];
  expect(forwardedHeaders(headers, "host")).toEqual(kept);
  expect(forwardedHeaders(headers)).toEqual([...kept, "Host", "a.example"]);
  expect(headerLines({ statusCode: 101, statusMessage: "Switching" } as IncomingMessage, ["A", "1"])).toBe(
    "HTTP/1.1 101 Switching\r\nA: 1\r\n\r\n",
  );
});
