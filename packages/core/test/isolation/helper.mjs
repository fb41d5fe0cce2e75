// A pack that uses what hosts offer, to compare it in process and in its own process.
import { readFileSync } from "node:fs";

export const packName = "agent-pack-helper";
export const secrets = ["HELPER_TOKEN"];
export const needs = { files: "read", hosts: ["api.example.com"] };

export function register(registry, host) {
  const tools = {
    echo: (args) => JSON.stringify(args),
    file: ({ path }) => readFileSync(path, "utf8"),
    chatty: (_args, call) => {
      for (const word of ["one", "two"]) call.onOutput(word);
      call.progress({ done: 1, total: 2 });
      call.report({
        ok: false,
        summary: "half",
        value: { n: 1 },
        view: { type: "markdown", text: "*half*" },
      });
      call.attach?.({ type: "image", mediaType: "image/png", data: "iVBORw0KGgo=", name: "dot" });
      return "done";
    },
    nested: async (_args, call) => (await call.callTool("neighbour", { n: 2 })).text,
    counted: () => {
      host?.state?.set((host.state.get() ?? 0) + 1);
      return `${host?.state?.get()} ${host?.model?.id}`;
    },
    fails: () => {
      throw Object.assign(new Error("it broke"), { code: "EBROKEN" });
    },
    long: ({ length }) => "é".repeat(length),
    configured: () => JSON.stringify(host?.options),
    waits: (_args, call) =>
      new Promise((resolve) => {
        call.signal.addEventListener("abort", () => resolve("stopped by itself"));
        call.onOutput("waiting");
      }),
    fetches: async ({ url }) => {
      const response = await fetch(url, { method: "POST", body: "question", headers: { "x-own": "1" } });
      return `${response.status} ${response.redirected} ${await response.text()}`;
    },
  };
  for (const [name, run] of Object.entries(tools)) {
    registry.register(
      {
        name,
        capabilities: name === "fetches" ? ["read", "network"] : ["read"],
        titleFrom: "path",
        getSchema: () => ({
          type: "function",
          function: {
            name,
            description: `Does ${name}.`,
            parameters: { type: "object", properties: { path: { type: "string" } } },
          },
        }),
        ...(name === "file" && {
          describeCall: ({ path }) => ({
            targets: [{ type: "file", path, access: "read" }],
            contained: true,
          }),
          previewCall: ({ path }) => ({ changes: [], basis: `seen ${path}` }),
        }),
        ...(name === "echo" && {
          parseArguments: (args) =>
            "when" in args && Number.isNaN(Date.parse(args.when))
              ? { problem: "when is no date" }
              : { value: args },
        }),
        execute: async (args, call) => await run(args, call),
      },
      { enabled: name !== "long" },
    );
  }
  registry.provide({
    commands: [
      { name: "greet", description: "Greets.", run: async (input) => ({ show: `Hello, ${input}!` }) },
    ],
    mentions: [
      { name: "notes", list: async (query) => [{ id: `a-${query}` }], read: async (id) => `note ${id}` },
    ],
    diagnose: () => [{ subject: "helper", ok: true, detail: "ready" }],
  });
}
