// A program that embeds the tool, for tests of what happens to its commands when the program ends.
import { RunBashTool } from "../dist/index.js";

const [command, mode] = process.argv.slice(2);
if (mode === "host-listens") process.on("SIGINT", () => process.stdout.write("host heard SIGINT\n"));
const result = new RunBashTool().execute({ command, timeout: Number(process.env.TEST_TIMEOUT ?? 60_000) });
process.stdout.write(`${await result}\n`);
