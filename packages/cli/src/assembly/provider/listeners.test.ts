import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { listenerOwner, ownerKind, ownersIn } from "./listeners.js";

const row = (address: string, port: string, state: string, uid: number): string =>
  `   0: ${address}:${port} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 1659 1`;

describe("who listens on a port", () => {
  test("counts only sockets that listen on an address reachable through loopback", () => {
    const table = [
      "  sl  local_address rem_address   st",
      row("0100007F", "1F90", "0A", 1001),
      row("00000000", "1F90", "0A", 1002),
      row("0100007F", "1F90", "01", 1003),
      row("0100000A", "1F90", "0A", 1004),
      row("0100007F", "1F91", "0A", 1005),
      row("00000000000000000000000000000000", "1F90", "0A", 1006),
    ].join("\n");
    expect(ownersIn(table, 8080)).toEqual([1001, 1002, 1006]);
  });

  test.runIf(process.platform === "linux")("recognises a listener of this process as its own", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const owner = listenerOwner(port);
    await new Promise((resolve) => server.close(resolve));
    expect(owner).toBe(process.getuid?.());
    expect(listenerOwner(port)).toBeUndefined();
  });

  test("treats a service account as the system's, but not the account of another user", () => {
    expect([1000, 998, 0, 1001, 65_534].map((uid) => ownerKind(uid, 1000))).toEqual([
      "self",
      "system",
      "system",
      "other",
      "other",
    ]);
  });
});
