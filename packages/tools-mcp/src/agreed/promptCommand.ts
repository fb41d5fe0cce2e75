import type { PackCommand } from "@agent/core";
import { escapeToLine, truncateUtf8 } from "@agent/core/toolkit";
import { splitCommandLine } from "../config/commandLine.js";
import type { LockedPrompt } from "../lock/lock.js";
import { commandName } from "../lock/toolName.js";
import type { AgreedServer } from "./agreedServer.js";

/** A server's prompt as a command of the chat: `/github:review number=42`. Its text is sent to the model. */
export function promptCommand(server: AgreedServer, locked: LockedPrompt): PackCommand {
  const name = commandName(server.name, locked.prompt);
  const usage = `/${name}${locked.arguments.map(({ name: one, required }) => (required ? ` ${one}=…` : ` [${one}=…]`)).join("")}`;
  return {
    name,
    description: escapeToLine(truncateUtf8(locked.description || `the prompt ${locked.prompt}`, 200)),
    async run(input, signal) {
      const args = readArguments(input, locked);
      const missing = locked.arguments.filter(
        ({ name: one, required }) => required && args[one] === undefined,
      );
      if (missing.length > 0) {
        return { show: `${missing.map(({ name: one }) => one).join(", ")} missing. Usage: ${usage}` };
      }
      return { send: await (await server.use(signal)).getPrompt(locked.prompt, args, signal) };
    },
  };
}

/** `name=value` words; others fill the arguments in their order. The last argument takes all the rest. */
function readArguments(input: string, { arguments: known }: LockedPrompt): Record<string, string> {
  const args: Record<string, string> = {};
  const rest: string[] = [];
  for (const word of splitCommandLine(input)) {
    const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (known.some((one) => one.name === name)) args[name] = value;
    else rest.push(word);
  }
  const open = known.filter(({ name }) => args[name] === undefined);
  for (const [index, { name }] of open.entries()) {
    const words = index === open.length - 1 ? rest.splice(0) : rest.splice(0, 1);
    if (words.length > 0) args[name] = words.join(" ");
  }
  return args;
}
