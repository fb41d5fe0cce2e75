// A program that embeds the tool, for tests of what happens to its commands when the program ends.
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { runBashTool } from "../dist/index.js";

const [command, mode] = process.argv.slice(2);
if (mode === "killed-at-start") {
  const { spawn } = childProcess;
  childProcess.spawn = (...args) => {
    const child = spawn(...args);
    if (args.at(-1)?.env?.TEST_MARK) process.kill(process.pid, "SIGKILL");
    return child;
  };
  syncBuiltinESMExports();
}
if (mode === "host-listens") process.on("SIGINT", () => process.stdout.write("host heard SIGINT\n"));
const options = mode === "sandboxed" ? { sandbox: "require" } : {};
const result = runBashTool(options).execute({
  command,
  timeout: Number(process.env.TEST_TIMEOUT ?? 60_000),
});
process.stdout.write(`${await result}\n`);
