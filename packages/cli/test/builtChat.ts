import { afterEach } from "vitest";
import { BIN, Sandbox } from "./agent.js";
import { ScriptedModel } from "./scriptedModel.js";
import { type TerminalOptions, TestTerminal } from "./terminal.js";

export interface BuiltChat {
  readonly box: Sandbox;
  readonly model: ScriptedModel;
  /** Starts the built command in a terminal. */
  run(args: readonly string[], options?: TerminalOptions): TestTerminal;
  /** Starts a chat and waits until the model is ready. */
  chat(args?: readonly string[], options?: TerminalOptions): Promise<TestTerminal>;
}

/** The built `agent` command in real terminals, in its own project, with a scripted model. */
export function useBuiltChat(): (models?: readonly string[]) => Promise<BuiltChat> {
  const open: TestTerminal[] = [];
  afterEach(() => {
    for (const terminal of open.splice(0)) terminal.close();
  });
  return async (models) => {
    const box = new Sandbox();
    const model = await ScriptedModel.start(models);
    const run: BuiltChat["run"] = (args, options = {}) => {
      const env = { HOME: box.home, AGENT_LOCAL_PORTS: "", ...model.env, ...options.env };
      const terminal = new TestTerminal([process.execPath, BIN, ...args], {
        cwd: box.project,
        ...options,
        env,
      });
      open.push(terminal);
      return terminal;
    };
    return {
      box,
      model,
      run,
      chat: async (args = [], options) => {
        const terminal = run(args, options);
        await terminal.until("/help lists the commands.");
        return terminal;
      },
    };
  };
}
