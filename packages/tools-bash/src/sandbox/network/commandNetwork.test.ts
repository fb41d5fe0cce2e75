import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { CommandNetwork } from "./commandNetwork.js";

const NOTHING = `process.send("nothing");`;
const LISTENER = `const server = require("net").createServer();
server.listen(0, "127.0.0.1", () => process.send("listening", server));`;

/** Starts a program that exits with 7 when the channel closes, and with 8 when it gets an answer. */
function start(code: string): ChildProcess {
  const answers = `process.on("message", () => process.exit(8)); process.on("disconnect", () => process.exit(7));`;
  return spawn(process.execPath, ["-e", answers + code], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
}

test.each([
  ["answers a program that passes its listener", LISTENER, false, 8],
  ["closes the channel to a program that passes no listener", NOTHING, false, 7],
  ["closes the channel to a program that is late", LISTENER, true, 7],
])("%s", async (_, code, isClosed, status) => {
  const network = new CommandNetwork({ env: {}, patterns: [], command: "x" });
  const child = start(code);
  const ended = once(child, "exit");
  if (isClosed) network.close();
  network.attach(child);
  expect((await ended)[0]).toBe(status);
  network.close();
});
