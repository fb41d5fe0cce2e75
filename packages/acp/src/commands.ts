import type { Content, PackCommand } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type { HostSession, SessionCommand } from "./host.js";

/** The commands of a session: the host's own come first, and keep their names. */
export function sessionCommands({ commands = [], agent }: HostSession): SessionCommand[] {
  const own = new Set(commands.map(({ name }) => name));
  return [...commands, ...agent.registry.services.commands.filter(({ name }) => !own.has(name))];
}

/** Runs the command that a message begins with. Its result is sent to the model, or only shown to the user. */
export async function expandCommand(
  commands: readonly PackCommand[],
  content: Content,
  signal: AbortSignal,
): Promise<{ readonly send: Content } | { readonly show: string }> {
  const [, name = "", input = ""] =
    typeof content === "string" ? (/^\/(\S+)(?:\s+([\s\S]*))?$/.exec(content.trim()) ?? []) : [];
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return { send: content };
  try {
    return await command.run(input, signal);
  } catch (error) {
    throw new Error(`/${name}: ${errorMessage(error)}`, { cause: error });
  }
}
