import { definePack, off } from "@agent/core";
import { createPathGuard } from "@agent/core/toolkit";
import { greet } from "./tools/greet.js";
import { writeNote } from "./tools/writeNote.js";

export const { packName, packApiVersion, secrets, needs, followsDirectory, register } = definePack({
  name: "__NAME__",
  // Users who add the pack see what it declares, and it gets nothing else. A tool that connects also declares the hosts and the
  // keys: needs: { hosts: ["api.example.com"] }, secrets: ["EXAMPLE_TOKEN"]
  // The options after the pack's name in `agent.config.ts`. An unknown option is refused.
  options: {
    type: "object",
    properties: {
      root: {
        type: "string",
        description: "Notes are written below this directory only. Default: anywhere.",
      },
    },
  },
  // An editor or a server may work in another directory than that of the process: `directory`.
  followsDirectory: true,
  // Called for each agent that uses the pack. It only creates the tools: nothing starts before a call.
  setup: ({ options, directory }) => ({
    tools: [greet, off(writeNote(createPathGuard(options.root, directory)))], // writes: the user opts in
  }),
});

// A config may select the pack by its name alone: this declares its options and tools there, too.
declare module "@agent/core" {
  interface NamedPacks {
    [packName]: { register: typeof register };
  }
}
