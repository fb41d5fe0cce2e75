import { packageTests } from "../../vitest.base.ts";
import { watTestPlugin } from "./build/wat.ts";

export default {
  ...packageTests(),
  plugins: [
    watTestPlugin,
    {
      // A thread cannot load TypeScript, so tests of the sources start the worker that was built.
      name: "built-worker",
      transform: (code: string, id: string) =>
        id.endsWith("threadExecutor.ts")
          ? code.replace("./agent-search-worker.js", "../../../dist/agent-search-worker.js")
          : undefined,
    },
  ],
};
