import type { Command } from "commander";
import { CliError } from "../../process/errors.js";
import { collect, settingsOptions } from "../options.js";
import type { CommandRun } from "../subcommands.js";

const ADD_EXAMPLES = `
Examples:
  agent mcp add npx -y @modelcontextprotocol/server-filesystem .
  agent mcp add --name docs https://docs.example.com/mcp
  agent mcp add '{ "mcpServers": { … } }'    a block of another tool's config
  agent mcp add .mcp.json                    or all of a file
  pbpaste | agent mcp add -

Put options before the pasted text.
After it they work only if it is a single word.`;

/** `agent mcp …`: manages MCP servers, and serves our tools as one. */
export function mcpCommands(mcp: Command, { flagsOf, done }: CommandRun): void {
  const json = (command: Command): Command => settingsOptions(command).option("--json", "as JSON");
  addOptions(mcp.command("add"))
    .description("add a server: show what it runs and its tools, and write it into the config")
    .argument(
      "[pasted...]",
      "a command line, an address, a block of another tool's settings (JSON or TOML), or a file with one",
    )
    .passThroughOptions()
    .addHelpText("after", ADD_EXAMPLES)
    .action(async (pasted: string[], _, command: Command) => {
      const { mcpAdd } = await import("./add.js");
      const words = takeOwnOptions(pasted, command);
      done(await mcpAdd(words, flagsOf(command)));
    });
  json(
    mcp.command("remove").description("remove a server from the config and the lock, and delete its login"),
  )
    .argument("<server>", "its name in the config")
    .option("--user", "of your own config instead of the project's")
    .action(async (server: string, _, command: Command) => {
      const { mcpRemove } = await import("./remove.js");
      done(await mcpRemove(server, flagsOf(command)));
    });
  json(mcp.command("list").description("list the servers of the config and what was approved")).action(
    async (_, command: Command) => {
      const { mcpList } = await import("./list.js");
      done(await mcpList(flagsOf(command)));
    },
  );
  json(mcp.command("check").description("start servers and report what works and what it costs"))
    .argument("[server]", "one server; default: all")
    .action(async (server: string | undefined, _, command: Command) => {
      const { mcpCheck } = await import("./check.js");
      done(await mcpCheck(server, flagsOf(command)));
    });
  json(mcp.command("update").description("show how tools differ from the approved ones, and approve them"))
    .argument("[server]", "one server; default: all")
    .option("-y, --yes", "approve without asking")
    .action(async (server: string | undefined, _, command: Command) => {
      const { mcpUpdate } = await import("./update.js");
      done(await mcpUpdate(server, flagsOf(command)));
    });
  json(mcp.command("login").description("log in to a server on HTTP"))
    .argument("<server>", "its name in the config")
    .option("--scope <scope>", "request these scopes as well")
    .option("--no-browser", "only print the address; do not open it")
    .action(async (server: string, _, command: Command) => {
      const { mcpLogin } = await import("./login.js");
      done(await mcpLogin(server, flagsOf(command)));
    });
  settingsOptions(mcp.command("serve").description("serve the enabled tools to MCP clients"))
    .option("--http", "on HTTP, on this machine and with a token, instead of standard input and output")
    .option("--port <number>", "the port for --http")
    .action(async (_, command: Command) => {
      const { mcpServe } = await import("./serve.js");
      done(await mcpServe(flagsOf(command)));
    });
}

function addOptions(command: Command): Command {
  return command
    .option("--name <name>", "its name; guessed if omitted")
    .option(
      "--env <NAME[=value]>",
      "a variable it gets; a secret is not written to the config (repeatable)",
      collect,
    )
    .option("--header <header>", '"Name: value" that is sent to an address (repeatable)', collect)
    .option("--enable <tool>", "a tool of the server to turn on; '*' for all (repeatable)", collect)
    .option("--user", "into your own config instead of the project's")
    .option("-y, --yes", "ask nothing")
    .option("--json", "as JSON")
    .option("--cwd <directory>", "work in this directory")
    .option("--config <file>", "use this config file and no other of the project")
    .option("--trust", "trust the project's config as it is now");
}

/**
 * Arguments after a program's name belong to the program: `npx -y some-server --port 1`. Nothing can follow an address,
 * a block, a file or a quoted command line, so options there are ours.
 */
function takeOwnOptions(pasted: readonly string[], command: Command): readonly string[] {
  const [first = "", ...rest] = pasted;
  const isWhole = /^https?:\/\/|[\s{]|\.(json|toml)$/i.test(first) || first === "-";
  if (!isWhole || rest.length === 0) return pasted;
  const { operands, unknown } = command.passThroughOptions(false).parseOptions([...rest]);
  const left = [...operands, ...unknown];
  if (left.length === 0) return [first];
  throw new CliError(
    `agent mcp add: ${left.join(" ")} is not part of what was pasted. Quote the pasted text as a whole.`,
  );
}
