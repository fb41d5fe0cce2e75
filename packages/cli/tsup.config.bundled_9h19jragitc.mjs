// tsup.config.ts
import { writeFile as writeFile2 } from "node:fs/promises";

// ../../tsup.base.ts
import { defineConfig } from "tsup";
var noExternal = ["@agent/internal"];
function packageBuild(options) {
  return defineConfig({
    format: ["esm"],
    target: "node20",
    platform: "node",
    noExternal,
    dts: true,
    sourcemap: true,
    clean: true,
    treeshake: true,
    // "node:fs" must not become "fs", which Deno and some bundlers do not know.
    removeNodeProtocol: false,
    ...options
  });
}

// bundle.config.ts
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build as bundleCommonJs, transform } from "esbuild";
import { rollup } from "rollup";
var __injected_import_meta_url__ = "file:///work/dev/toolslsp/packages/cli/bundle.config.ts";
var ROOT = dirname(fileURLToPath(__injected_import_meta_url__));
var SOURCE = join(ROOT, "src");
var ENTRIES = {
  bin: join(SOURCE, "bin.ts"),
  config: join(SOURCE, "settings/config/index.ts")
};
var BUNDLED = {
  "@agent/internal": join(ROOT, "../internal/src/index.ts"),
  "@agent/core/toolkit": join(ROOT, "../core/src/toolkit/index.ts"),
  "get-east-asian-width": fileURLToPath(import.meta.resolve("get-east-asian-width")),
  commander: fileURLToPath(import.meta.resolve("commander"))
};
var COMMON_JS = {
  [BUNDLED.commander ?? ""]: ["Command", "CommanderError"]
};
var FIRST = "first";
var CHUNKS = {
  [FIRST]: ["chat/firstPrompt.ts"],
  chat: ["main.ts", "commands/chat.ts"],
  work: [
    "main.ts",
    "program.ts",
    "commands/run.ts",
    "run/runTask.ts",
    "assembly/assembleAgent.ts",
    "assembly/instructions.ts",
    "assembly/provider/select.ts"
  ]
};
async function bundle() {
  const dir = join(ROOT, "dist");
  await rm(dir, { recursive: true, force: true });
  const build = await rollup({
    input: ENTRIES,
    plugins: [typescript],
    treeshake: { moduleSideEffects: false },
    onwarn: ({ message }) => {
      throw new Error(message);
    }
  });
  await build.write({
    dir,
    format: "es",
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    manualChunks: await chunks(build),
    onlyExplicitManualChunks: true
  });
  await build.close();
  await writeFile(join(dir, "third-party-licenses.txt"), await licenses());
}
async function licenses() {
  const texts = Object.entries(BUNDLED).filter(([name2]) => !name2.startsWith("@agent/")).map(async ([name2, file]) => `${name2}

${await readLicense(dirname(file))}`);
  return (await Promise.all(texts)).join("\n\n");
}
async function readLicense(directory) {
  const name2 = (await readdir(directory)).find((entry) => entry.toLowerCase() === "license");
  if (name2 === void 0) throw new Error(`${directory} has no license to pass on.`);
  return await readFile(join(directory, name2), "utf8");
}
var typescript = {
  name: "typescript",
  resolveId(specifier, importer) {
    const bundled = BUNDLED[specifier];
    if (bundled !== void 0) return bundled;
    if (importer === void 0) return specifier;
    if (specifier.startsWith("/")) return specifier;
    if (!specifier.startsWith(".")) return { id: specifier, external: true, moduleSideEffects: false };
    const file = resolve(dirname(importer), specifier);
    return importer.endsWith(".ts") ? file.replace(/\.js$/, ".ts") : file;
  },
  async load(file) {
    const names2 = COMMON_JS[file];
    if (names2) return await asEsModule(file, names2);
    const source = await readFile(file, "utf8");
    const { code, map } = await transform(source, {
      loader: file.endsWith(".ts") ? "ts" : "js",
      target: "node20",
      sourcefile: file,
      sourcemap: true,
      minifySyntax: true,
      minifyWhitespace: true
    });
    return { code, map };
  }
};
async function asEsModule(file, names2) {
  const contents = `export { ${names2.join(", ")} } from ${JSON.stringify(file)};`;
  const { outputFiles } = await bundleCommonJs({
    stdin: { contents, resolveDir: dirname(file) },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [requiredBuiltins]
  });
  return outputFiles[0]?.text ?? "";
}
var requiredBuiltins = {
  name: "required-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "required-builtin" }));
    onLoad({ filter: /.*/, namespace: "required-builtin" }, ({ path }) => {
      const taken = `process.getBuiltinModule(${JSON.stringify(path)})`;
      const isUnused = path === "node:child_process";
      return {
        contents: `module.exports = ${isUnused ? `{ get spawn() { return ${taken}.spawn } }` : taken};`
      };
    });
  }
};
async function chunks(build) {
  const { output } = await build.generate({ format: "es" });
  const made = new Map(output.flatMap((file) => file.type === "chunk" ? [[file.fileName, file]] : []));
  const groups = Object.entries(CHUNKS).map(([name2, entries]) => {
    const modules = entries.map((entry) => join(SOURCE, entry));
    const files = [...made.values()].filter((chunk) => chunk.moduleIds.some((id) => modules.includes(id)));
    return { name: name2, modules: new Set([...reachable(files, made)].flatMap((chunk) => chunk.moduleIds)) };
  });
  return (id) => {
    if (Object.values(ENTRIES).includes(id)) return void 0;
    const names2 = groups.flatMap(({ name: name2, modules }) => modules.has(id) ? [name2] : []);
    if (names2.includes(FIRST)) return FIRST;
    return names2.length > 1 ? "common" : names2[0];
  };
}
function reachable(chunks2, made) {
  const found = new Set(chunks2);
  for (const { imports } of found) {
    for (const file of imports) {
      const chunk = made.get(file);
      if (chunk) found.add(chunk);
    }
  }
  return found;
}

// src/settings/config/schema.ts
import { EFFORTS } from "@agent/core/host";

// src/permissions/mode.ts
var MODES = ["plan", "ask", "edits", "auto"];

// src/settings/config/schema.ts
var name = { type: "string", minLength: 1 };
var amount = { type: "number", minimum: 0 };
var positive = { type: "number", exclusiveMinimum: 0 };
var names = (description) => ({ type: "array", items: name, description });
var effort = { type: "string", enum: [...EFFORTS], description: "How much the model thinks" };
var pack = {
  anyOf: [
    { ...name, description: "A package's name, or a path relative to the config" },
    { type: "object", description: "An imported pack, or a tool made with defineTool" },
    {
      type: "array",
      minItems: 1,
      maxItems: 2,
      prefixItems: [{ anyOf: [name, { type: "object" }] }, { type: "object" }],
      description: "A pack with its options"
    }
  ]
};
var price = {
  type: "object",
  properties: { input: amount, output: amount, cachedInput: amount, cacheWrite: amount },
  required: ["input", "output"],
  additionalProperties: false
};
var provider = {
  type: "object",
  properties: {
    name,
    model: name,
    baseURL: { ...name, format: "uri" },
    apiKey: { ...name, description: "Better in the provider's variable, such as OPENAI_API_KEY" },
    headers: { type: "object", additionalProperties: { type: "string" } },
    body: { type: "object", description: "More fields for each request" },
    timeoutMs: { ...positive, description: "The longest silence of the server" }
  },
  // A provider has options of its own and checks them itself.
  additionalProperties: true
};
var outages = {
  type: "object",
  properties: {
    attempts: { type: "integer", minimum: 0, description: "How often a run asks again without progress" },
    firstDelayMs: { ...positive, description: "The first wait; each further one is twice as long" },
    maxDelayMs: { ...positive, description: "The longest wait, unless the server asks for a longer one" },
    deadlineMs: { ...positive, description: "How long a run tries before it fails" }
  },
  additionalProperties: false,
  description: "What a worker does with a run whose model's server fails for a time"
};
var systemPrompt = {
  anyOf: [
    { type: "string" },
    {
      type: "object",
      properties: {
        role: { type: "string" },
        work: { type: "string" },
        style: { type: "string" },
        environment: { type: "boolean" },
        append: { type: "string" }
      },
      additionalProperties: false
    }
  ],
  description: "Replaces the default system prompt, or parts of it"
};
var profile = {
  type: "object",
  properties: {
    systemPrompt,
    tools: names("Only these tools are on, if they are available at all"),
    model: name,
    effort
  },
  additionalProperties: false
};
var CONFIG_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Configuration of agent",
  type: "object",
  properties: {
    $schema: { type: "string" },
    packs: { type: "array", items: pack, description: 'The tool packs. Default: ["@agent/preset-default"]' },
    enable: names("Tools to turn on although their pack declares them off"),
    disable: names("Tools to turn off"),
    confirm: names("Tools whose calls run only after a yes"),
    permissions: {
      type: "object",
      properties: {
        allow: names("Calls that run without a question, such as run_bash(npm test *)"),
        ask: names("Calls that are asked about"),
        deny: names("Calls that never run")
      },
      additionalProperties: false
    },
    mode: { type: "string", enum: [...MODES], description: "How much runs without a question at first" },
    readOnly: { type: "boolean", description: "Only tools that declare nothing but reading" },
    addDirs: names("More directories in which tools may write without asking"),
    provider: { anyOf: [name, provider], description: "A provider's name, or one with settings" },
    model: { ...name, description: "The model, with its provider if you like: anthropic/claude-sonnet-5-5" },
    fallback: { ...name, description: "A model that answers where the first one fails" },
    prices: {
      type: "object",
      additionalProperties: price,
      description: "Dollars per million tokens, by the model's name"
    },
    systemPrompt,
    agents: { type: "object", additionalProperties: profile, description: "Named roles for --agent" },
    notify: {
      anyOf: [positive, { const: false }],
      description: "After how many milliseconds the end of a turn rings the bell"
    },
    effort,
    maxTurns: { ...positive, description: "How often the model is asked for one message" },
    maxRepeats: { ...positive, description: "How often the same calls may give the same results in a row" },
    contextTokens: { ...positive, description: "The conversation's budget in tokens, estimated" },
    maxRetries: {
      type: "integer",
      minimum: 0,
      description: "How often a failed request is repeated. Default 3"
    },
    runs: {
      type: "object",
      properties: {
        outages,
        approvalTimeoutMs: {
          ...positive,
          description: "After what time a call without a decision is denied"
        }
      },
      additionalProperties: false,
      description: "For agent runs work"
    }
  },
  additionalProperties: false
};

// tsup.config.ts
await bundle();
await writeFile2("dist/config.schema.json", `${JSON.stringify(CONFIG_SCHEMA, null, 2)}
`);
var tsup_config_default = packageBuild({
  entry: { config: "src/settings/config/index.ts" },
  dts: { only: true },
  clean: false
});
export {
  tsup_config_default as default
};
//# sourceMappingURL=data:application/json;base64,ewogICJ2ZXJzaW9uIjogMywKICAic291cmNlcyI6IFsidHN1cC5jb25maWcudHMiLCAiLi4vLi4vdHN1cC5iYXNlLnRzIiwgImJ1bmRsZS5jb25maWcudHMiLCAic3JjL3NldHRpbmdzL2NvbmZpZy9zY2hlbWEudHMiLCAic3JjL3Blcm1pc3Npb25zL21vZGUudHMiXSwKICAic291cmNlc0NvbnRlbnQiOiBbImNvbnN0IF9faW5qZWN0ZWRfZmlsZW5hbWVfXyA9IFwiL3dvcmsvZGV2L3Rvb2xzbHNwL3BhY2thZ2VzL2NsaS90c3VwLmNvbmZpZy50c1wiO2NvbnN0IF9faW5qZWN0ZWRfZGlybmFtZV9fID0gXCIvd29yay9kZXYvdG9vbHNsc3AvcGFja2FnZXMvY2xpXCI7Y29uc3QgX19pbmplY3RlZF9pbXBvcnRfbWV0YV91cmxfXyA9IFwiZmlsZTovLy93b3JrL2Rldi90b29sc2xzcC9wYWNrYWdlcy9jbGkvdHN1cC5jb25maWcudHNcIjtpbXBvcnQgeyB3cml0ZUZpbGUgfSBmcm9tIFwibm9kZTpmcy9wcm9taXNlc1wiO1xuaW1wb3J0IHsgcGFja2FnZUJ1aWxkIH0gZnJvbSBcIi4uLy4uL3RzdXAuYmFzZS50c1wiO1xuaW1wb3J0IHsgYnVuZGxlIH0gZnJvbSBcIi4vYnVuZGxlLmNvbmZpZy50c1wiO1xuaW1wb3J0IHsgQ09ORklHX1NDSEVNQSB9IGZyb20gXCIuL3NyYy9zZXR0aW5ncy9jb25maWcvc2NoZW1hLnRzXCI7XG5cbi8vIFRoZSBjb2RlIGlzIFJvbGx1cCdzOyB3aGF0IGlzIGxlZnQgYXJlIHR5cGVzLiBUaGUgY29tbWFuZCBpdHNlbGYgaGFzIG5vIGltcG9ydGVycywgc28gb25seSB0aGUgc3ViLXBhdGggbmVlZHMgdGhlbS5cbmF3YWl0IGJ1bmRsZSgpO1xuYXdhaXQgd3JpdGVGaWxlKFwiZGlzdC9jb25maWcuc2NoZW1hLmpzb25cIiwgYCR7SlNPTi5zdHJpbmdpZnkoQ09ORklHX1NDSEVNQSwgbnVsbCwgMil9XFxuYCk7XG5cbmV4cG9ydCBkZWZhdWx0IHBhY2thZ2VCdWlsZCh7XG4gIGVudHJ5OiB7IGNvbmZpZzogXCJzcmMvc2V0dGluZ3MvY29uZmlnL2luZGV4LnRzXCIgfSxcbiAgZHRzOiB7IG9ubHk6IHRydWUgfSxcbiAgY2xlYW46IGZhbHNlLFxufSk7XG4iLCAiY29uc3QgX19pbmplY3RlZF9maWxlbmFtZV9fID0gXCIvd29yay9kZXYvdG9vbHNsc3AvdHN1cC5iYXNlLnRzXCI7Y29uc3QgX19pbmplY3RlZF9kaXJuYW1lX18gPSBcIi93b3JrL2Rldi90b29sc2xzcFwiO2NvbnN0IF9faW5qZWN0ZWRfaW1wb3J0X21ldGFfdXJsX18gPSBcImZpbGU6Ly8vd29yay9kZXYvdG9vbHNsc3AvdHN1cC5iYXNlLnRzXCI7aW1wb3J0IHsgZGVmaW5lQ29uZmlnLCB0eXBlIE9wdGlvbnMgfSBmcm9tIFwidHN1cFwiO1xuXG4vKiogUGFja2FnZXMgb2YgdGhlIHdvcmtzcGFjZSB0aGF0IGFyZSBub3QgcHVibGlzaGVkIGJlY29tZSBwYXJ0IG9mIHRob3NlIHRoYXQgYXJlLiBObyBwdWJsaWMgdHlwZSBtYXkgbmFtZSB0aGVpcnMuICovXG5leHBvcnQgY29uc3Qgbm9FeHRlcm5hbCA9IFtcIkBhZ2VudC9pbnRlcm5hbFwiXTtcblxuLyoqIE9uZSBidWlsZCBmb3IgZXZlcnkgcGFja2FnZTogRVNNIGZvciBOb2RlIDIwLCB3aXRoIHR5cGVzIGFuZCBzb3VyY2UgbWFwcyBiZXNpZGUgaXQuICovXG5leHBvcnQgZnVuY3Rpb24gcGFja2FnZUJ1aWxkKG9wdGlvbnM6IE9wdGlvbnMpOiBSZXR1cm5UeXBlPHR5cGVvZiBkZWZpbmVDb25maWc+IHtcbiAgcmV0dXJuIGRlZmluZUNvbmZpZyh7XG4gICAgZm9ybWF0OiBbXCJlc21cIl0sXG4gICAgdGFyZ2V0OiBcIm5vZGUyMFwiLFxuICAgIHBsYXRmb3JtOiBcIm5vZGVcIixcbiAgICBub0V4dGVybmFsLFxuICAgIGR0czogdHJ1ZSxcbiAgICBzb3VyY2VtYXA6IHRydWUsXG4gICAgY2xlYW46IHRydWUsXG4gICAgdHJlZXNoYWtlOiB0cnVlLFxuICAgIC8vIFwibm9kZTpmc1wiIG11c3Qgbm90IGJlY29tZSBcImZzXCIsIHdoaWNoIERlbm8gYW5kIHNvbWUgYnVuZGxlcnMgZG8gbm90IGtub3cuXG4gICAgcmVtb3ZlTm9kZVByb3RvY29sOiBmYWxzZSxcbiAgICAuLi5vcHRpb25zLFxuICB9KTtcbn1cbiIsICJjb25zdCBfX2luamVjdGVkX2ZpbGVuYW1lX18gPSBcIi93b3JrL2Rldi90b29sc2xzcC9wYWNrYWdlcy9jbGkvYnVuZGxlLmNvbmZpZy50c1wiO2NvbnN0IF9faW5qZWN0ZWRfZGlybmFtZV9fID0gXCIvd29yay9kZXYvdG9vbHNsc3AvcGFja2FnZXMvY2xpXCI7Y29uc3QgX19pbmplY3RlZF9pbXBvcnRfbWV0YV91cmxfXyA9IFwiZmlsZTovLy93b3JrL2Rldi90b29sc2xzcC9wYWNrYWdlcy9jbGkvYnVuZGxlLmNvbmZpZy50c1wiO2ltcG9ydCB7IHJlYWRkaXIsIHJlYWRGaWxlLCBybSwgd3JpdGVGaWxlIH0gZnJvbSBcIm5vZGU6ZnMvcHJvbWlzZXNcIjtcbmltcG9ydCB7IGRpcm5hbWUsIGpvaW4sIHJlc29sdmUgfSBmcm9tIFwibm9kZTpwYXRoXCI7XG5pbXBvcnQgeyBmaWxlVVJMVG9QYXRoIH0gZnJvbSBcIm5vZGU6dXJsXCI7XG5pbXBvcnQgeyBidWlsZCBhcyBidW5kbGVDb21tb25KcywgdHlwZSBQbHVnaW4gYXMgRXNidWlsZFBsdWdpbiwgdHJhbnNmb3JtIH0gZnJvbSBcImVzYnVpbGRcIjtcbmltcG9ydCB7IHR5cGUgT3V0cHV0Q2h1bmssIHR5cGUgUGx1Z2luLCB0eXBlIFJvbGx1cEJ1aWxkLCByb2xsdXAgfSBmcm9tIFwicm9sbHVwXCI7XG5cbmNvbnN0IFJPT1QgPSBkaXJuYW1lKGZpbGVVUkxUb1BhdGgoaW1wb3J0Lm1ldGEudXJsKSk7XG5jb25zdCBTT1VSQ0UgPSBqb2luKFJPT1QsIFwic3JjXCIpO1xuXG5jb25zdCBFTlRSSUVTOiBSZWFkb25seTxSZWNvcmQ8c3RyaW5nLCBzdHJpbmc+PiA9IHtcbiAgYmluOiBqb2luKFNPVVJDRSwgXCJiaW4udHNcIiksXG4gIGNvbmZpZzogam9pbihTT1VSQ0UsIFwic2V0dGluZ3MvY29uZmlnL2luZGV4LnRzXCIpLFxufTtcblxuLyoqXG4gKiBQYWNrYWdlcyB0aGF0IGJlY29tZSBwYXJ0IG9mIHRoZSBjb21tYW5kLCBzbyB0aGF0IHRoZSBmaXJzdCBwcm9tcHQgZG9lcyBub3Qgd2FpdCBmb3IgdGhlbTogZXZlcnkgZmlsZSB0aGF0IGlzIG9wZW5lZFxuICogY29zdHMgbW9yZSB0aGFuIHRoZSBjb2RlIGluIGl0LiBBIHNlY29uZCBjb3B5IG9mIGVhY2ggYmVzaWRlIGEgcGFjaydzIG93biBkb2VzIG5vIGhhcm06IHRoZXkgYXJlIGZ1bmN0aW9ucywgdGhlXG4gKiBsaXN0ZW5lcnMgb2YgYG9uQWJvcnRgIGJlbG9uZyB0byBhIHNpZ25hbCwgYW5kIGBpc0FnZW50RXJyb3JgIHJlY29nbmlzZXMgZXJyb3JzIG9mIGFueSBjb3B5LlxuICovXG5jb25zdCBCVU5ETEVEOiBSZWFkb25seTxSZWNvcmQ8c3RyaW5nLCBzdHJpbmc+PiA9IHtcbiAgXCJAYWdlbnQvaW50ZXJuYWxcIjogam9pbihST09ULCBcIi4uL2ludGVybmFsL3NyYy9pbmRleC50c1wiKSxcbiAgXCJAYWdlbnQvY29yZS90b29sa2l0XCI6IGpvaW4oUk9PVCwgXCIuLi9jb3JlL3NyYy90b29sa2l0L2luZGV4LnRzXCIpLFxuICBcImdldC1lYXN0LWFzaWFuLXdpZHRoXCI6IGZpbGVVUkxUb1BhdGgoaW1wb3J0Lm1ldGEucmVzb2x2ZShcImdldC1lYXN0LWFzaWFuLXdpZHRoXCIpKSxcbiAgY29tbWFuZGVyOiBmaWxlVVJMVG9QYXRoKGltcG9ydC5tZXRhLnJlc29sdmUoXCJjb21tYW5kZXJcIikpLFxufTtcblxuLyoqIEJ1bmRsZWQgcGFja2FnZXMgdGhhdCBhcmUgQ29tbW9uSlMsIHdpdGggdGhlIG5hbWVzIHRoZSBjb21tYW5kIGltcG9ydHM6IFJvbGx1cCByZWFkcyBvbmx5IEVTIG1vZHVsZXMuICovXG5jb25zdCBDT01NT05fSlM6IFJlYWRvbmx5PFJlY29yZDxzdHJpbmcsIHJlYWRvbmx5IHN0cmluZ1tdPj4gPSB7XG4gIFtCVU5ETEVELmNvbW1hbmRlciA/PyBcIlwiXTogW1wiQ29tbWFuZFwiLCBcIkNvbW1hbmRlckVycm9yXCJdLFxufTtcblxuLyoqXG4gKiBXaGF0IGlzIGxvYWRlZCB0b2dldGhlciBpcyBvbmUgZmlsZTogYWxsIHRoYXQgdGhlc2UgbGVhZCB0byBhdCBvbmNlLiBXaGF0IHRoZSBmaXJzdCBsZWFkcyB0byBiZWxvbmdzIHRvIGl0IGFsb25lOyB3aGF0XG4gKiBzZXZlcmFsIG90aGVycyBsZWFkIHRvIGlzIGEgZmlsZSBvZiBpdHMgb3duLlxuICovXG5jb25zdCBGSVJTVCA9IFwiZmlyc3RcIjtcbmNvbnN0IENIVU5LUzogUmVhZG9ubHk8UmVjb3JkPHN0cmluZywgcmVhZG9ubHkgc3RyaW5nW10+PiA9IHtcbiAgW0ZJUlNUXTogW1wiY2hhdC9maXJzdFByb21wdC50c1wiXSxcbiAgY2hhdDogW1wibWFpbi50c1wiLCBcImNvbW1hbmRzL2NoYXQudHNcIl0sXG4gIHdvcms6IFtcbiAgICBcIm1haW4udHNcIixcbiAgICBcInByb2dyYW0udHNcIixcbiAgICBcImNvbW1hbmRzL3J1bi50c1wiLFxuICAgIFwicnVuL3J1blRhc2sudHNcIixcbiAgICBcImFzc2VtYmx5L2Fzc2VtYmxlQWdlbnQudHNcIixcbiAgICBcImFzc2VtYmx5L2luc3RydWN0aW9ucy50c1wiLFxuICAgIFwiYXNzZW1ibHkvcHJvdmlkZXIvc2VsZWN0LnRzXCIsXG4gIF0sXG59O1xuXG4vKipcbiAqIEJ1aWxkcyB0aGUgY29tbWFuZCBhcyBmZXcgbGFyZ2UgZmlsZXMuIE9wZW5pbmcsIHJlc29sdmluZyBhbmQgbGlua2luZyBhIGZpbGUgdGFrZXMgTm9kZSBsb25nZXIgdGhhbiByZWFkaW5nIHRoZSBjb2RlXG4gKiBpbiBpdCwgYW5kIGEgc3RhcnQgd2FpdHMgZm9yIGVhY2guXG4gKi9cbmV4cG9ydCBhc3luYyBmdW5jdGlvbiBidW5kbGUoKTogUHJvbWlzZTx2b2lkPiB7XG4gIGNvbnN0IGRpciA9IGpvaW4oUk9PVCwgXCJkaXN0XCIpO1xuICBhd2FpdCBybShkaXIsIHsgcmVjdXJzaXZlOiB0cnVlLCBmb3JjZTogdHJ1ZSB9KTtcbiAgY29uc3QgYnVpbGQgPSBhd2FpdCByb2xsdXAoe1xuICAgIGlucHV0OiBFTlRSSUVTLFxuICAgIHBsdWdpbnM6IFt0eXBlc2NyaXB0XSxcbiAgICB0cmVlc2hha2U6IHsgbW9kdWxlU2lkZUVmZmVjdHM6IGZhbHNlIH0sXG4gICAgb253YXJuOiAoeyBtZXNzYWdlIH0pID0+IHtcbiAgICAgIHRocm93IG5ldyBFcnJvcihtZXNzYWdlKTtcbiAgICB9LFxuICB9KTtcbiAgYXdhaXQgYnVpbGQud3JpdGUoe1xuICAgIGRpcixcbiAgICBmb3JtYXQ6IFwiZXNcIixcbiAgICBzb3VyY2VtYXA6IHRydWUsXG4gICAgZW50cnlGaWxlTmFtZXM6IFwiW25hbWVdLmpzXCIsXG4gICAgY2h1bmtGaWxlTmFtZXM6IFwiW25hbWVdLVtoYXNoXS5qc1wiLFxuICAgIG1hbnVhbENodW5rczogYXdhaXQgY2h1bmtzKGJ1aWxkKSxcbiAgICBvbmx5RXhwbGljaXRNYW51YWxDaHVua3M6IHRydWUsXG4gIH0pO1xuICBhd2FpdCBidWlsZC5jbG9zZSgpO1xuICBhd2FpdCB3cml0ZUZpbGUoam9pbihkaXIsIFwidGhpcmQtcGFydHktbGljZW5zZXMudHh0XCIpLCBhd2FpdCBsaWNlbnNlcygpKTtcbn1cblxuLyoqIFRoZSBsaWNlbnNlcyBvZiB3aGF0IG90aGVycyB3cm90ZSBhbmQgaXMgcGFydCBvZiB0aGUgY29tbWFuZC4gVGhleSBhc2sgdG8gYmUgcGFzc2VkIG9uIHdpdGggaXQuICovXG5hc3luYyBmdW5jdGlvbiBsaWNlbnNlcygpOiBQcm9taXNlPHN0cmluZz4ge1xuICBjb25zdCB0ZXh0cyA9IE9iamVjdC5lbnRyaWVzKEJVTkRMRUQpXG4gICAgLmZpbHRlcigoW25hbWVdKSA9PiAhbmFtZS5zdGFydHNXaXRoKFwiQGFnZW50L1wiKSlcbiAgICAubWFwKGFzeW5jIChbbmFtZSwgZmlsZV0pID0+IGAke25hbWV9XFxuXFxuJHthd2FpdCByZWFkTGljZW5zZShkaXJuYW1lKGZpbGUpKX1gKTtcbiAgcmV0dXJuIChhd2FpdCBQcm9taXNlLmFsbCh0ZXh0cykpLmpvaW4oXCJcXG5cXG5cIik7XG59XG5cbmFzeW5jIGZ1bmN0aW9uIHJlYWRMaWNlbnNlKGRpcmVjdG9yeTogc3RyaW5nKTogUHJvbWlzZTxzdHJpbmc+IHtcbiAgY29uc3QgbmFtZSA9IChhd2FpdCByZWFkZGlyKGRpcmVjdG9yeSkpLmZpbmQoKGVudHJ5KSA9PiBlbnRyeS50b0xvd2VyQ2FzZSgpID09PSBcImxpY2Vuc2VcIik7XG4gIGlmIChuYW1lID09PSB1bmRlZmluZWQpIHRocm93IG5ldyBFcnJvcihgJHtkaXJlY3Rvcnl9IGhhcyBubyBsaWNlbnNlIHRvIHBhc3Mgb24uYCk7XG4gIHJldHVybiBhd2FpdCByZWFkRmlsZShqb2luKGRpcmVjdG9yeSwgbmFtZSksIFwidXRmOFwiKTtcbn1cblxuLyoqIFJlYWRzIHRoZSBzb3VyY2VzIGFzIHRoZXkgYXJlOiBUeXBlU2NyaXB0LCB3aXRoIFwiLmpzXCIgaW4gdGhlIGltcG9ydHMuIEFsbCBvdGhlciBwYWNrYWdlcyBzdGF5IGltcG9ydHMuICovXG5jb25zdCB0eXBlc2NyaXB0OiBQbHVnaW4gPSB7XG4gIG5hbWU6IFwidHlwZXNjcmlwdFwiLFxuICByZXNvbHZlSWQoc3BlY2lmaWVyLCBpbXBvcnRlcikge1xuICAgIGNvbnN0IGJ1bmRsZWQgPSBCVU5ETEVEW3NwZWNpZmllcl07XG4gICAgaWYgKGJ1bmRsZWQgIT09IHVuZGVmaW5lZCkgcmV0dXJuIGJ1bmRsZWQ7XG4gICAgaWYgKGltcG9ydGVyID09PSB1bmRlZmluZWQpIHJldHVybiBzcGVjaWZpZXI7XG4gICAgaWYgKHNwZWNpZmllci5zdGFydHNXaXRoKFwiL1wiKSkgcmV0dXJuIHNwZWNpZmllcjtcbiAgICBpZiAoIXNwZWNpZmllci5zdGFydHNXaXRoKFwiLlwiKSkgcmV0dXJuIHsgaWQ6IHNwZWNpZmllciwgZXh0ZXJuYWw6IHRydWUsIG1vZHVsZVNpZGVFZmZlY3RzOiBmYWxzZSB9O1xuICAgIGNvbnN0IGZpbGUgPSByZXNvbHZlKGRpcm5hbWUoaW1wb3J0ZXIpLCBzcGVjaWZpZXIpO1xuICAgIHJldHVybiBpbXBvcnRlci5lbmRzV2l0aChcIi50c1wiKSA/IGZpbGUucmVwbGFjZSgvXFwuanMkLywgXCIudHNcIikgOiBmaWxlO1xuICB9LFxuICBhc3luYyBsb2FkKGZpbGUpIHtcbiAgICBjb25zdCBuYW1lcyA9IENPTU1PTl9KU1tmaWxlXTtcbiAgICBpZiAobmFtZXMpIHJldHVybiBhd2FpdCBhc0VzTW9kdWxlKGZpbGUsIG5hbWVzKTtcbiAgICBjb25zdCBzb3VyY2UgPSBhd2FpdCByZWFkRmlsZShmaWxlLCBcInV0ZjhcIik7XG4gICAgY29uc3QgeyBjb2RlLCBtYXAgfSA9IGF3YWl0IHRyYW5zZm9ybShzb3VyY2UsIHtcbiAgICAgIGxvYWRlcjogZmlsZS5lbmRzV2l0aChcIi50c1wiKSA/IFwidHNcIiA6IFwianNcIixcbiAgICAgIHRhcmdldDogXCJub2RlMjBcIixcbiAgICAgIHNvdXJjZWZpbGU6IGZpbGUsXG4gICAgICBzb3VyY2VtYXA6IHRydWUsXG4gICAgICBtaW5pZnlTeW50YXg6IHRydWUsXG4gICAgICBtaW5pZnlXaGl0ZXNwYWNlOiB0cnVlLFxuICAgIH0pO1xuICAgIHJldHVybiB7IGNvZGUsIG1hcCB9O1xuICB9LFxufTtcblxuLyoqIEEgQ29tbW9uSlMgcGFja2FnZSBhcyBvbmUgRVMgbW9kdWxlIHdpdGggdGhlc2UgZXhwb3J0cy4gKi9cbmFzeW5jIGZ1bmN0aW9uIGFzRXNNb2R1bGUoZmlsZTogc3RyaW5nLCBuYW1lczogcmVhZG9ubHkgc3RyaW5nW10pOiBQcm9taXNlPHN0cmluZz4ge1xuICBjb25zdCBjb250ZW50cyA9IGBleHBvcnQgeyAke25hbWVzLmpvaW4oXCIsIFwiKX0gfSBmcm9tICR7SlNPTi5zdHJpbmdpZnkoZmlsZSl9O2A7XG4gIGNvbnN0IHsgb3V0cHV0RmlsZXMgfSA9IGF3YWl0IGJ1bmRsZUNvbW1vbkpzKHtcbiAgICBzdGRpbjogeyBjb250ZW50cywgcmVzb2x2ZURpcjogZGlybmFtZShmaWxlKSB9LFxuICAgIGJ1bmRsZTogdHJ1ZSxcbiAgICB3cml0ZTogZmFsc2UsXG4gICAgZm9ybWF0OiBcImVzbVwiLFxuICAgIHBsYXRmb3JtOiBcIm5vZGVcIixcbiAgICB0YXJnZXQ6IFwibm9kZTIwXCIsXG4gICAgbWluaWZ5U3ludGF4OiB0cnVlLFxuICAgIG1pbmlmeVdoaXRlc3BhY2U6IHRydWUsXG4gICAgcGx1Z2luczogW3JlcXVpcmVkQnVpbHRpbnNdLFxuICB9KTtcbiAgcmV0dXJuIG91dHB1dEZpbGVzWzBdPy50ZXh0ID8/IFwiXCI7XG59XG5cbi8qKiBBbiBFUyBtb2R1bGUgaGFzIG5vIGByZXF1aXJlYCwgc28gTm9kZSdzIG1vZHVsZXMgYXJlIHRha2VuIGZyb20gYHByb2Nlc3NgLiAqL1xuY29uc3QgcmVxdWlyZWRCdWlsdGluczogRXNidWlsZFBsdWdpbiA9IHtcbiAgbmFtZTogXCJyZXF1aXJlZC1idWlsdGluc1wiLFxuICBzZXR1cCh7IG9uUmVzb2x2ZSwgb25Mb2FkIH0pIHtcbiAgICBvblJlc29sdmUoeyBmaWx0ZXI6IC9ebm9kZTovIH0sICh7IHBhdGggfSkgPT4gKHsgcGF0aCwgbmFtZXNwYWNlOiBcInJlcXVpcmVkLWJ1aWx0aW5cIiB9KSk7XG4gICAgb25Mb2FkKHsgZmlsdGVyOiAvLiovLCBuYW1lc3BhY2U6IFwicmVxdWlyZWQtYnVpbHRpblwiIH0sICh7IHBhdGggfSkgPT4ge1xuICAgICAgY29uc3QgdGFrZW4gPSBgcHJvY2Vzcy5nZXRCdWlsdGluTW9kdWxlKCR7SlNPTi5zdHJpbmdpZnkocGF0aCl9KWA7XG4gICAgICAvLyBUaGUgcGFyc2VyIHN0YXJ0cyBubyBwcm9ncmFtIHVubGVzcyBhIGNvbW1hbmQgaXMgb25lLCBhbmQgbm9uZSBpczsgbG9hZGluZyB0aGlzIHRha2VzIE5vZGUgMyBtcy5cbiAgICAgIGNvbnN0IGlzVW51c2VkID0gcGF0aCA9PT0gXCJub2RlOmNoaWxkX3Byb2Nlc3NcIjtcbiAgICAgIHJldHVybiB7XG4gICAgICAgIGNvbnRlbnRzOiBgbW9kdWxlLmV4cG9ydHMgPSAke2lzVW51c2VkID8gYHsgZ2V0IHNwYXduKCkgeyByZXR1cm4gJHt0YWtlbn0uc3Bhd24gfSB9YCA6IHRha2VufTtgLFxuICAgICAgfTtcbiAgICB9KTtcbiAgfSxcbn07XG5cbi8qKlxuICogUHV0cyBtb2R1bGVzIGludG8gdGhlIGZpbGVzIG9mIGBDSFVOS1NgLiBXaGljaCBtb2R1bGVzIGEgZmlsZSBsZWFkcyB0byBpcyByZWFkIG9mZiB0aGUgY2h1bmtzIFJvbGx1cCBtYWtlcyBieSBpdHNlbGY6XG4gKiBpdCBmb2xsb3dzIG5hbWVzIHRocm91Z2ggYW4gaW5kZXgsIHNvIHRoYXQgb25lIGZ1bmN0aW9uIG9mIGEgcGFja2FnZSBkb2VzIG5vdCBsZWFkIHRvIHRoZSB3aG9sZSBwYWNrYWdlLlxuICovXG5hc3luYyBmdW5jdGlvbiBjaHVua3MoYnVpbGQ6IFJvbGx1cEJ1aWxkKTogUHJvbWlzZTwoaWQ6IHN0cmluZykgPT4gc3RyaW5nIHwgdW5kZWZpbmVkPiB7XG4gIGNvbnN0IHsgb3V0cHV0IH0gPSBhd2FpdCBidWlsZC5nZW5lcmF0ZSh7IGZvcm1hdDogXCJlc1wiIH0pO1xuICBjb25zdCBtYWRlID0gbmV3IE1hcChvdXRwdXQuZmxhdE1hcCgoZmlsZSkgPT4gKGZpbGUudHlwZSA9PT0gXCJjaHVua1wiID8gW1tmaWxlLmZpbGVOYW1lLCBmaWxlXV0gOiBbXSkpKTtcbiAgY29uc3QgZ3JvdXBzID0gT2JqZWN0LmVudHJpZXMoQ0hVTktTKS5tYXAoKFtuYW1lLCBlbnRyaWVzXSkgPT4ge1xuICAgIGNvbnN0IG1vZHVsZXMgPSBlbnRyaWVzLm1hcCgoZW50cnkpID0+IGpvaW4oU09VUkNFLCBlbnRyeSkpO1xuICAgIGNvbnN0IGZpbGVzID0gWy4uLm1hZGUudmFsdWVzKCldLmZpbHRlcigoY2h1bmspID0+IGNodW5rLm1vZHVsZUlkcy5zb21lKChpZCkgPT4gbW9kdWxlcy5pbmNsdWRlcyhpZCkpKTtcbiAgICByZXR1cm4geyBuYW1lLCBtb2R1bGVzOiBuZXcgU2V0KFsuLi5yZWFjaGFibGUoZmlsZXMsIG1hZGUpXS5mbGF0TWFwKChjaHVuaykgPT4gY2h1bmsubW9kdWxlSWRzKSkgfTtcbiAgfSk7XG4gIHJldHVybiAoaWQpID0+IHtcbiAgICAvLyBObyBvdGhlciBmaWxlIGltcG9ydHMgYW4gZW50cnk6IGBiaW5gIGlzIHN0aWxsIHdhaXRpbmcgd2hlbiB0aGV5IGFyZSBsb2FkZWQuXG4gICAgaWYgKE9iamVjdC52YWx1ZXMoRU5UUklFUykuaW5jbHVkZXMoaWQpKSByZXR1cm4gdW5kZWZpbmVkO1xuICAgIGNvbnN0IG5hbWVzID0gZ3JvdXBzLmZsYXRNYXAoKHsgbmFtZSwgbW9kdWxlcyB9KSA9PiAobW9kdWxlcy5oYXMoaWQpID8gW25hbWVdIDogW10pKTtcbiAgICBpZiAobmFtZXMuaW5jbHVkZXMoRklSU1QpKSByZXR1cm4gRklSU1Q7XG4gICAgcmV0dXJuIG5hbWVzLmxlbmd0aCA+IDEgPyBcImNvbW1vblwiIDogbmFtZXNbMF07XG4gIH07XG59XG5cbi8qKiBUaGVzZSBjaHVua3MgYW5kIGFsbCB0aGV5IGltcG9ydCwgZGlyZWN0bHkgb3Igbm90LCB3aXRob3V0IHdoYXQgaXMgbG9hZGVkIG9uIGRlbWFuZC4gKi9cbmZ1bmN0aW9uIHJlYWNoYWJsZShjaHVua3M6IHJlYWRvbmx5IE91dHB1dENodW5rW10sIG1hZGU6IFJlYWRvbmx5TWFwPHN0cmluZywgT3V0cHV0Q2h1bms+KTogU2V0PE91dHB1dENodW5rPiB7XG4gIGNvbnN0IGZvdW5kID0gbmV3IFNldChjaHVua3MpO1xuICBmb3IgKGNvbnN0IHsgaW1wb3J0cyB9IG9mIGZvdW5kKSB7XG4gICAgZm9yIChjb25zdCBmaWxlIG9mIGltcG9ydHMpIHtcbiAgICAgIGNvbnN0IGNodW5rID0gbWFkZS5nZXQoZmlsZSk7XG4gICAgICBpZiAoY2h1bmspIGZvdW5kLmFkZChjaHVuayk7XG4gICAgfVxuICB9XG4gIHJldHVybiBmb3VuZDtcbn1cbiIsICJjb25zdCBfX2luamVjdGVkX2ZpbGVuYW1lX18gPSBcIi93b3JrL2Rldi90b29sc2xzcC9wYWNrYWdlcy9jbGkvc3JjL3NldHRpbmdzL2NvbmZpZy9zY2hlbWEudHNcIjtjb25zdCBfX2luamVjdGVkX2Rpcm5hbWVfXyA9IFwiL3dvcmsvZGV2L3Rvb2xzbHNwL3BhY2thZ2VzL2NsaS9zcmMvc2V0dGluZ3MvY29uZmlnXCI7Y29uc3QgX19pbmplY3RlZF9pbXBvcnRfbWV0YV91cmxfXyA9IFwiZmlsZTovLy93b3JrL2Rldi90b29sc2xzcC9wYWNrYWdlcy9jbGkvc3JjL3NldHRpbmdzL2NvbmZpZy9zY2hlbWEudHNcIjtpbXBvcnQgdHlwZSB7IEpzb25TY2hlbWEgfSBmcm9tIFwiQGFnZW50L2NvcmVcIjtcbmltcG9ydCB7IEVGRk9SVFMgfSBmcm9tIFwiQGFnZW50L2NvcmUvaG9zdFwiO1xuaW1wb3J0IHsgTU9ERVMgfSBmcm9tIFwiLi4vLi4vcGVybWlzc2lvbnMvbW9kZS5qc1wiO1xuXG5jb25zdCBuYW1lID0geyB0eXBlOiBcInN0cmluZ1wiLCBtaW5MZW5ndGg6IDEgfTtcbmNvbnN0IGFtb3VudCA9IHsgdHlwZTogXCJudW1iZXJcIiwgbWluaW11bTogMCB9O1xuY29uc3QgcG9zaXRpdmUgPSB7IHR5cGU6IFwibnVtYmVyXCIsIGV4Y2x1c2l2ZU1pbmltdW06IDAgfTtcbmNvbnN0IG5hbWVzID0gKGRlc2NyaXB0aW9uOiBzdHJpbmcpID0+ICh7IHR5cGU6IFwiYXJyYXlcIiwgaXRlbXM6IG5hbWUsIGRlc2NyaXB0aW9uIH0pO1xuXG5jb25zdCBlZmZvcnQgPSB7IHR5cGU6IFwic3RyaW5nXCIsIGVudW06IFsuLi5FRkZPUlRTXSwgZGVzY3JpcHRpb246IFwiSG93IG11Y2ggdGhlIG1vZGVsIHRoaW5rc1wiIH07XG5cbmNvbnN0IHBhY2sgPSB7XG4gIGFueU9mOiBbXG4gICAgeyAuLi5uYW1lLCBkZXNjcmlwdGlvbjogXCJBIHBhY2thZ2UncyBuYW1lLCBvciBhIHBhdGggcmVsYXRpdmUgdG8gdGhlIGNvbmZpZ1wiIH0sXG4gICAgeyB0eXBlOiBcIm9iamVjdFwiLCBkZXNjcmlwdGlvbjogXCJBbiBpbXBvcnRlZCBwYWNrLCBvciBhIHRvb2wgbWFkZSB3aXRoIGRlZmluZVRvb2xcIiB9LFxuICAgIHtcbiAgICAgIHR5cGU6IFwiYXJyYXlcIixcbiAgICAgIG1pbkl0ZW1zOiAxLFxuICAgICAgbWF4SXRlbXM6IDIsXG4gICAgICBwcmVmaXhJdGVtczogW3sgYW55T2Y6IFtuYW1lLCB7IHR5cGU6IFwib2JqZWN0XCIgfV0gfSwgeyB0eXBlOiBcIm9iamVjdFwiIH1dLFxuICAgICAgZGVzY3JpcHRpb246IFwiQSBwYWNrIHdpdGggaXRzIG9wdGlvbnNcIixcbiAgICB9LFxuICBdLFxufTtcblxuY29uc3QgcHJpY2UgPSB7XG4gIHR5cGU6IFwib2JqZWN0XCIsXG4gIHByb3BlcnRpZXM6IHsgaW5wdXQ6IGFtb3VudCwgb3V0cHV0OiBhbW91bnQsIGNhY2hlZElucHV0OiBhbW91bnQsIGNhY2hlV3JpdGU6IGFtb3VudCB9LFxuICByZXF1aXJlZDogW1wiaW5wdXRcIiwgXCJvdXRwdXRcIl0sXG4gIGFkZGl0aW9uYWxQcm9wZXJ0aWVzOiBmYWxzZSxcbn07XG5cbmNvbnN0IHByb3ZpZGVyID0ge1xuICB0eXBlOiBcIm9iamVjdFwiLFxuICBwcm9wZXJ0aWVzOiB7XG4gICAgbmFtZSxcbiAgICBtb2RlbDogbmFtZSxcbiAgICBiYXNlVVJMOiB7IC4uLm5hbWUsIGZvcm1hdDogXCJ1cmlcIiB9LFxuICAgIGFwaUtleTogeyAuLi5uYW1lLCBkZXNjcmlwdGlvbjogXCJCZXR0ZXIgaW4gdGhlIHByb3ZpZGVyJ3MgdmFyaWFibGUsIHN1Y2ggYXMgT1BFTkFJX0FQSV9LRVlcIiB9LFxuICAgIGhlYWRlcnM6IHsgdHlwZTogXCJvYmplY3RcIiwgYWRkaXRpb25hbFByb3BlcnRpZXM6IHsgdHlwZTogXCJzdHJpbmdcIiB9IH0sXG4gICAgYm9keTogeyB0eXBlOiBcIm9iamVjdFwiLCBkZXNjcmlwdGlvbjogXCJNb3JlIGZpZWxkcyBmb3IgZWFjaCByZXF1ZXN0XCIgfSxcbiAgICB0aW1lb3V0TXM6IHsgLi4ucG9zaXRpdmUsIGRlc2NyaXB0aW9uOiBcIlRoZSBsb25nZXN0IHNpbGVuY2Ugb2YgdGhlIHNlcnZlclwiIH0sXG4gIH0sXG4gIC8vIEEgcHJvdmlkZXIgaGFzIG9wdGlvbnMgb2YgaXRzIG93biBhbmQgY2hlY2tzIHRoZW0gaXRzZWxmLlxuICBhZGRpdGlvbmFsUHJvcGVydGllczogdHJ1ZSxcbn07XG5cbmNvbnN0IG91dGFnZXMgPSB7XG4gIHR5cGU6IFwib2JqZWN0XCIsXG4gIHByb3BlcnRpZXM6IHtcbiAgICBhdHRlbXB0czogeyB0eXBlOiBcImludGVnZXJcIiwgbWluaW11bTogMCwgZGVzY3JpcHRpb246IFwiSG93IG9mdGVuIGEgcnVuIGFza3MgYWdhaW4gd2l0aG91dCBwcm9ncmVzc1wiIH0sXG4gICAgZmlyc3REZWxheU1zOiB7IC4uLnBvc2l0aXZlLCBkZXNjcmlwdGlvbjogXCJUaGUgZmlyc3Qgd2FpdDsgZWFjaCBmdXJ0aGVyIG9uZSBpcyB0d2ljZSBhcyBsb25nXCIgfSxcbiAgICBtYXhEZWxheU1zOiB7IC4uLnBvc2l0aXZlLCBkZXNjcmlwdGlvbjogXCJUaGUgbG9uZ2VzdCB3YWl0LCB1bmxlc3MgdGhlIHNlcnZlciBhc2tzIGZvciBhIGxvbmdlciBvbmVcIiB9LFxuICAgIGRlYWRsaW5lTXM6IHsgLi4ucG9zaXRpdmUsIGRlc2NyaXB0aW9uOiBcIkhvdyBsb25nIGEgcnVuIHRyaWVzIGJlZm9yZSBpdCBmYWlsc1wiIH0sXG4gIH0sXG4gIGFkZGl0aW9uYWxQcm9wZXJ0aWVzOiBmYWxzZSxcbiAgZGVzY3JpcHRpb246IFwiV2hhdCBhIHdvcmtlciBkb2VzIHdpdGggYSBydW4gd2hvc2UgbW9kZWwncyBzZXJ2ZXIgZmFpbHMgZm9yIGEgdGltZVwiLFxufTtcblxuY29uc3Qgc3lzdGVtUHJvbXB0ID0ge1xuICBhbnlPZjogW1xuICAgIHsgdHlwZTogXCJzdHJpbmdcIiB9LFxuICAgIHtcbiAgICAgIHR5cGU6IFwib2JqZWN0XCIsXG4gICAgICBwcm9wZXJ0aWVzOiB7XG4gICAgICAgIHJvbGU6IHsgdHlwZTogXCJzdHJpbmdcIiB9LFxuICAgICAgICB3b3JrOiB7IHR5cGU6IFwic3RyaW5nXCIgfSxcbiAgICAgICAgc3R5bGU6IHsgdHlwZTogXCJzdHJpbmdcIiB9LFxuICAgICAgICBlbnZpcm9ubWVudDogeyB0eXBlOiBcImJvb2xlYW5cIiB9LFxuICAgICAgICBhcHBlbmQ6IHsgdHlwZTogXCJzdHJpbmdcIiB9LFxuICAgICAgfSxcbiAgICAgIGFkZGl0aW9uYWxQcm9wZXJ0aWVzOiBmYWxzZSxcbiAgICB9LFxuICBdLFxuICBkZXNjcmlwdGlvbjogXCJSZXBsYWNlcyB0aGUgZGVmYXVsdCBzeXN0ZW0gcHJvbXB0LCBvciBwYXJ0cyBvZiBpdFwiLFxufTtcblxuY29uc3QgcHJvZmlsZSA9IHtcbiAgdHlwZTogXCJvYmplY3RcIixcbiAgcHJvcGVydGllczoge1xuICAgIHN5c3RlbVByb21wdCxcbiAgICB0b29sczogbmFtZXMoXCJPbmx5IHRoZXNlIHRvb2xzIGFyZSBvbiwgaWYgdGhleSBhcmUgYXZhaWxhYmxlIGF0IGFsbFwiKSxcbiAgICBtb2RlbDogbmFtZSxcbiAgICBlZmZvcnQsXG4gIH0sXG4gIGFkZGl0aW9uYWxQcm9wZXJ0aWVzOiBmYWxzZSxcbn07XG5cbi8qKlxuICogVGhlIGtleXMgb2YgYSBjb25maWcsIGFzIEpTT04gU2NoZW1hLiBJdCBpcyBwdWJsaXNoZWQgYXMgYEBhZ2VudC9jbGkvY29uZmlnLnNjaGVtYS5qc29uYCwgc28gdGhhdCBhbiBlZGl0b3IgY29tcGxldGVzXG4gKiBhbmQgY2hlY2tzIGEgY29uZmlnIGluIEpTT04gb3IgWUFNTC4gV2hhdCBhIHNjaGVtYSBjYW5ub3Qgc2F5IGlzIGluIGNoZWNrQ29uZmlnLnRzLlxuICovXG5leHBvcnQgY29uc3QgQ09ORklHX1NDSEVNQTogSnNvblNjaGVtYSA9IHtcbiAgJHNjaGVtYTogXCJodHRwczovL2pzb24tc2NoZW1hLm9yZy9kcmFmdC8yMDIwLTEyL3NjaGVtYVwiLFxuICB0aXRsZTogXCJDb25maWd1cmF0aW9uIG9mIGFnZW50XCIsXG4gIHR5cGU6IFwib2JqZWN0XCIsXG4gIHByb3BlcnRpZXM6IHtcbiAgICAkc2NoZW1hOiB7IHR5cGU6IFwic3RyaW5nXCIgfSxcbiAgICBwYWNrczogeyB0eXBlOiBcImFycmF5XCIsIGl0ZW1zOiBwYWNrLCBkZXNjcmlwdGlvbjogJ1RoZSB0b29sIHBhY2tzLiBEZWZhdWx0OiBbXCJAYWdlbnQvcHJlc2V0LWRlZmF1bHRcIl0nIH0sXG4gICAgZW5hYmxlOiBuYW1lcyhcIlRvb2xzIHRvIHR1cm4gb24gYWx0aG91Z2ggdGhlaXIgcGFjayBkZWNsYXJlcyB0aGVtIG9mZlwiKSxcbiAgICBkaXNhYmxlOiBuYW1lcyhcIlRvb2xzIHRvIHR1cm4gb2ZmXCIpLFxuICAgIGNvbmZpcm06IG5hbWVzKFwiVG9vbHMgd2hvc2UgY2FsbHMgcnVuIG9ubHkgYWZ0ZXIgYSB5ZXNcIiksXG4gICAgcGVybWlzc2lvbnM6IHtcbiAgICAgIHR5cGU6IFwib2JqZWN0XCIsXG4gICAgICBwcm9wZXJ0aWVzOiB7XG4gICAgICAgIGFsbG93OiBuYW1lcyhcIkNhbGxzIHRoYXQgcnVuIHdpdGhvdXQgYSBxdWVzdGlvbiwgc3VjaCBhcyBydW5fYmFzaChucG0gdGVzdCAqKVwiKSxcbiAgICAgICAgYXNrOiBuYW1lcyhcIkNhbGxzIHRoYXQgYXJlIGFza2VkIGFib3V0XCIpLFxuICAgICAgICBkZW55OiBuYW1lcyhcIkNhbGxzIHRoYXQgbmV2ZXIgcnVuXCIpLFxuICAgICAgfSxcbiAgICAgIGFkZGl0aW9uYWxQcm9wZXJ0aWVzOiBmYWxzZSxcbiAgICB9LFxuICAgIG1vZGU6IHsgdHlwZTogXCJzdHJpbmdcIiwgZW51bTogWy4uLk1PREVTXSwgZGVzY3JpcHRpb246IFwiSG93IG11Y2ggcnVucyB3aXRob3V0IGEgcXVlc3Rpb24gYXQgZmlyc3RcIiB9LFxuICAgIHJlYWRPbmx5OiB7IHR5cGU6IFwiYm9vbGVhblwiLCBkZXNjcmlwdGlvbjogXCJPbmx5IHRvb2xzIHRoYXQgZGVjbGFyZSBub3RoaW5nIGJ1dCByZWFkaW5nXCIgfSxcbiAgICBhZGREaXJzOiBuYW1lcyhcIk1vcmUgZGlyZWN0b3JpZXMgaW4gd2hpY2ggdG9vbHMgbWF5IHdyaXRlIHdpdGhvdXQgYXNraW5nXCIpLFxuICAgIHByb3ZpZGVyOiB7IGFueU9mOiBbbmFtZSwgcHJvdmlkZXJdLCBkZXNjcmlwdGlvbjogXCJBIHByb3ZpZGVyJ3MgbmFtZSwgb3Igb25lIHdpdGggc2V0dGluZ3NcIiB9LFxuICAgIG1vZGVsOiB7IC4uLm5hbWUsIGRlc2NyaXB0aW9uOiBcIlRoZSBtb2RlbCwgd2l0aCBpdHMgcHJvdmlkZXIgaWYgeW91IGxpa2U6IGFudGhyb3BpYy9jbGF1ZGUtc29ubmV0LTUtNVwiIH0sXG4gICAgZmFsbGJhY2s6IHsgLi4ubmFtZSwgZGVzY3JpcHRpb246IFwiQSBtb2RlbCB0aGF0IGFuc3dlcnMgd2hlcmUgdGhlIGZpcnN0IG9uZSBmYWlsc1wiIH0sXG4gICAgcHJpY2VzOiB7XG4gICAgICB0eXBlOiBcIm9iamVjdFwiLFxuICAgICAgYWRkaXRpb25hbFByb3BlcnRpZXM6IHByaWNlLFxuICAgICAgZGVzY3JpcHRpb246IFwiRG9sbGFycyBwZXIgbWlsbGlvbiB0b2tlbnMsIGJ5IHRoZSBtb2RlbCdzIG5hbWVcIixcbiAgICB9LFxuICAgIHN5c3RlbVByb21wdCxcbiAgICBhZ2VudHM6IHsgdHlwZTogXCJvYmplY3RcIiwgYWRkaXRpb25hbFByb3BlcnRpZXM6IHByb2ZpbGUsIGRlc2NyaXB0aW9uOiBcIk5hbWVkIHJvbGVzIGZvciAtLWFnZW50XCIgfSxcbiAgICBub3RpZnk6IHtcbiAgICAgIGFueU9mOiBbcG9zaXRpdmUsIHsgY29uc3Q6IGZhbHNlIH1dLFxuICAgICAgZGVzY3JpcHRpb246IFwiQWZ0ZXIgaG93IG1hbnkgbWlsbGlzZWNvbmRzIHRoZSBlbmQgb2YgYSB0dXJuIHJpbmdzIHRoZSBiZWxsXCIsXG4gICAgfSxcbiAgICBlZmZvcnQsXG4gICAgbWF4VHVybnM6IHsgLi4ucG9zaXRpdmUsIGRlc2NyaXB0aW9uOiBcIkhvdyBvZnRlbiB0aGUgbW9kZWwgaXMgYXNrZWQgZm9yIG9uZSBtZXNzYWdlXCIgfSxcbiAgICBtYXhSZXBlYXRzOiB7IC4uLnBvc2l0aXZlLCBkZXNjcmlwdGlvbjogXCJIb3cgb2Z0ZW4gdGhlIHNhbWUgY2FsbHMgbWF5IGdpdmUgdGhlIHNhbWUgcmVzdWx0cyBpbiBhIHJvd1wiIH0sXG4gICAgY29udGV4dFRva2VuczogeyAuLi5wb3NpdGl2ZSwgZGVzY3JpcHRpb246IFwiVGhlIGNvbnZlcnNhdGlvbidzIGJ1ZGdldCBpbiB0b2tlbnMsIGVzdGltYXRlZFwiIH0sXG4gICAgbWF4UmV0cmllczoge1xuICAgICAgdHlwZTogXCJpbnRlZ2VyXCIsXG4gICAgICBtaW5pbXVtOiAwLFxuICAgICAgZGVzY3JpcHRpb246IFwiSG93IG9mdGVuIGEgZmFpbGVkIHJlcXVlc3QgaXMgcmVwZWF0ZWQuIERlZmF1bHQgM1wiLFxuICAgIH0sXG4gICAgcnVuczoge1xuICAgICAgdHlwZTogXCJvYmplY3RcIixcbiAgICAgIHByb3BlcnRpZXM6IHtcbiAgICAgICAgb3V0YWdlcyxcbiAgICAgICAgYXBwcm92YWxUaW1lb3V0TXM6IHtcbiAgICAgICAgICAuLi5wb3NpdGl2ZSxcbiAgICAgICAgICBkZXNjcmlwdGlvbjogXCJBZnRlciB3aGF0IHRpbWUgYSBjYWxsIHdpdGhvdXQgYSBkZWNpc2lvbiBpcyBkZW5pZWRcIixcbiAgICAgICAgfSxcbiAgICAgIH0sXG4gICAgICBhZGRpdGlvbmFsUHJvcGVydGllczogZmFsc2UsXG4gICAgICBkZXNjcmlwdGlvbjogXCJGb3IgYWdlbnQgcnVucyB3b3JrXCIsXG4gICAgfSxcbiAgfSxcbiAgYWRkaXRpb25hbFByb3BlcnRpZXM6IGZhbHNlLFxufTtcbiIsICJjb25zdCBfX2luamVjdGVkX2ZpbGVuYW1lX18gPSBcIi93b3JrL2Rldi90b29sc2xzcC9wYWNrYWdlcy9jbGkvc3JjL3Blcm1pc3Npb25zL21vZGUudHNcIjtjb25zdCBfX2luamVjdGVkX2Rpcm5hbWVfXyA9IFwiL3dvcmsvZGV2L3Rvb2xzbHNwL3BhY2thZ2VzL2NsaS9zcmMvcGVybWlzc2lvbnNcIjtjb25zdCBfX2luamVjdGVkX2ltcG9ydF9tZXRhX3VybF9fID0gXCJmaWxlOi8vL3dvcmsvZGV2L3Rvb2xzbHNwL3BhY2thZ2VzL2NsaS9zcmMvcGVybWlzc2lvbnMvbW9kZS50c1wiO2ltcG9ydCB0eXBlIHsgVG9vbENhcGFiaWxpdHksIFRvb2xJbmZvIH0gZnJvbSBcIkBhZ2VudC9jb3JlXCI7XG5cbi8qKiBIb3cgbXVjaCB0aGUgYWdlbnQgbWF5IGRvIHdpdGhvdXQgYXNraW5nLCBmcm9tIHRoZSBsZWFzdCB0byB0aGUgbW9zdC4gKi9cbmV4cG9ydCBjb25zdCBNT0RFUyA9IFtcInBsYW5cIiwgXCJhc2tcIiwgXCJlZGl0c1wiLCBcImF1dG9cIl0gYXMgY29uc3Q7XG5leHBvcnQgdHlwZSBNb2RlID0gKHR5cGVvZiBNT0RFUylbbnVtYmVyXTtcblxuZXhwb3J0IGNvbnN0IE1PREVfTkFNRVM6IFJlYWRvbmx5PFJlY29yZDxNb2RlLCBzdHJpbmc+PiA9IHtcbiAgcGxhbjogXCJwbGFuXCIsXG4gIGFzazogXCJhc2tcIixcbiAgZWRpdHM6IFwiYWNjZXB0IGVkaXRzXCIsXG4gIGF1dG86IFwiYXV0b1wiLFxufTtcblxuZXhwb3J0IGNvbnN0IE1PREVfSEVMUDogUmVhZG9ubHk8UmVjb3JkPE1vZGUsIHN0cmluZz4+ID0ge1xuICBwbGFuOiBcIm9ubHkgdG9vbHMgdGhhdCByZWFkOyBub3RoaW5nIGNhbiBiZSBjaGFuZ2VkXCIsXG4gIGFzazogXCJhc2tzIGJlZm9yZSBhbnl0aGluZyBpcyBjaGFuZ2VkLCBydW4gb3IgZmV0Y2hlZFwiLFxuICBlZGl0czogXCJlZGl0cyBmaWxlcyBpbiB0aGUgcHJvamVjdDsgYXNrcyBiZWZvcmUgYW55dGhpbmcgZWxzZVwiLFxuICBhdXRvOiBcImFza3Mgb25seSB3aGF0IHRoZSBjb25maWd1cmF0aW9uIHNheXNcIixcbn07XG5cbi8qKiBTZW50IHRvIHRoZSBtb2RlbCBpbiBwbGFuIG1vZGU6IHRoZSBtaXNzaW5nIHRvb2xzIGFsb25lIGRvIG5vdCB0ZWxsIGl0IHdoeSB0aGV5IGFyZSBtaXNzaW5nLiAqL1xuZXhwb3J0IGNvbnN0IFBMQU5fTk9URSA9XG4gIFwiWW91IGFyZSBpbiBwbGFuIG1vZGU6IG9ubHkgdG9vbHMgdGhhdCByZWFkIGFyZSBhdmFpbGFibGUuIEZpbmQgb3V0IHdoYXQgaXMgbmVlZGVkLCB0aGVuIGFuc3dlciB3aXRoIGEgcGxhbi4gVGhlIHBlcnNvbiBsZWF2ZXMgcGxhbiBtb2RlIHdoZW4gaXQgaXMgdG8gYmUgY2FycmllZCBvdXQuXCI7XG5cbmV4cG9ydCBmdW5jdGlvbiBuZXh0TW9kZShtb2RlOiBNb2RlKTogTW9kZSB7XG4gIHJldHVybiBNT0RFU1soTU9ERVMuaW5kZXhPZihtb2RlKSArIDEpICUgTU9ERVMubGVuZ3RoXSA/PyBcImFza1wiO1xufVxuXG5leHBvcnQgZnVuY3Rpb24gb25seVJlYWRzKGNhcGFiaWxpdGllczogcmVhZG9ubHkgVG9vbENhcGFiaWxpdHlbXSk6IGJvb2xlYW4ge1xuICByZXR1cm4gY2FwYWJpbGl0aWVzLmxlbmd0aCA+IDAgJiYgY2FwYWJpbGl0aWVzLmV2ZXJ5KChvbmUpID0+IG9uZSA9PT0gXCJyZWFkXCIpO1xufVxuXG5leHBvcnQgZnVuY3Rpb24gb25seUVkaXRzKGNhcGFiaWxpdGllczogcmVhZG9ubHkgVG9vbENhcGFiaWxpdHlbXSk6IGJvb2xlYW4ge1xuICByZXR1cm4gY2FwYWJpbGl0aWVzLmxlbmd0aCA+IDAgJiYgY2FwYWJpbGl0aWVzLmV2ZXJ5KChvbmUpID0+IG9uZSA9PT0gXCJyZWFkXCIgfHwgb25lID09PSBcIndyaXRlXCIpO1xufVxuXG4vKipcbiAqIFRoZSBtb2RlIHRoYXQgbWF0Y2hlcyB0aGUgY29uZmlndXJhdGlvbjogXCJhY2NlcHQgZWRpdHNcIiBpZiBldmVyeSB0b29sIHRoYXQgZG9lcyBtb3JlIHRoYW4gZWRpdCBhc2tzIGZpcnN0LCBcImF1dG9cIiBpZlxuICogdGhlIHBlcnNvbiBjb25maWd1cmVkIHN1Y2ggYSB0b29sIHRvIHJ1biB3aXRob3V0IGEgcXVlc3Rpb24uXG4gKi9cbmV4cG9ydCBmdW5jdGlvbiBtb2RlT2YodG9vbHM6IHJlYWRvbmx5IFRvb2xJbmZvW10sIGNvbmZpcm06IFJlYWRvbmx5U2V0PHN0cmluZz4pOiBNb2RlIHtcbiAgY29uc3QgcnVucyA9IHRvb2xzLnNvbWUoXG4gICAgKHsgbmFtZSwgZW5hYmxlZCwgY2FwYWJpbGl0aWVzIH0pID0+IGVuYWJsZWQgJiYgIW9ubHlFZGl0cyhjYXBhYmlsaXRpZXMpICYmICFjb25maXJtLmhhcyhuYW1lKSxcbiAgKTtcbiAgcmV0dXJuIHJ1bnMgPyBcImF1dG9cIiA6IFwiZWRpdHNcIjtcbn1cbiJdLAogICJtYXBwaW5ncyI6ICI7QUFBMk8sU0FBUyxhQUFBQSxrQkFBaUI7OztBQ0FyRSxTQUFTLG9CQUFrQztBQUdwTyxJQUFNLGFBQWEsQ0FBQyxpQkFBaUI7QUFHckMsU0FBUyxhQUFhLFNBQW1EO0FBQzlFLFNBQU8sYUFBYTtBQUFBLElBQ2xCLFFBQVEsQ0FBQyxLQUFLO0FBQUEsSUFDZCxRQUFRO0FBQUEsSUFDUixVQUFVO0FBQUEsSUFDVjtBQUFBLElBQ0EsS0FBSztBQUFBLElBQ0wsV0FBVztBQUFBLElBQ1gsT0FBTztBQUFBLElBQ1AsV0FBVztBQUFBO0FBQUEsSUFFWCxvQkFBb0I7QUFBQSxJQUNwQixHQUFHO0FBQUEsRUFDTCxDQUFDO0FBQ0g7OztBQ3BCK08sU0FBUyxTQUFTLFVBQVUsSUFBSSxpQkFBaUI7QUFDaFMsU0FBUyxTQUFTLE1BQU0sZUFBZTtBQUN2QyxTQUFTLHFCQUFxQjtBQUM5QixTQUFTLFNBQVMsZ0JBQThDLGlCQUFpQjtBQUNqRixTQUEwRCxjQUFjO0FBSndFLElBQU0sK0JBQStCO0FBTXJMLElBQU0sT0FBTyxRQUFRLGNBQWMsNEJBQWUsQ0FBQztBQUNuRCxJQUFNLFNBQVMsS0FBSyxNQUFNLEtBQUs7QUFFL0IsSUFBTSxVQUE0QztBQUFBLEVBQ2hELEtBQUssS0FBSyxRQUFRLFFBQVE7QUFBQSxFQUMxQixRQUFRLEtBQUssUUFBUSwwQkFBMEI7QUFDakQ7QUFPQSxJQUFNLFVBQTRDO0FBQUEsRUFDaEQsbUJBQW1CLEtBQUssTUFBTSwwQkFBMEI7QUFBQSxFQUN4RCx1QkFBdUIsS0FBSyxNQUFNLDhCQUE4QjtBQUFBLEVBQ2hFLHdCQUF3QixjQUFjLFlBQVksUUFBUSxzQkFBc0IsQ0FBQztBQUFBLEVBQ2pGLFdBQVcsY0FBYyxZQUFZLFFBQVEsV0FBVyxDQUFDO0FBQzNEO0FBR0EsSUFBTSxZQUF5RDtBQUFBLEVBQzdELENBQUMsUUFBUSxhQUFhLEVBQUUsR0FBRyxDQUFDLFdBQVcsZ0JBQWdCO0FBQ3pEO0FBTUEsSUFBTSxRQUFRO0FBQ2QsSUFBTSxTQUFzRDtBQUFBLEVBQzFELENBQUMsS0FBSyxHQUFHLENBQUMscUJBQXFCO0FBQUEsRUFDL0IsTUFBTSxDQUFDLFdBQVcsa0JBQWtCO0FBQUEsRUFDcEMsTUFBTTtBQUFBLElBQ0o7QUFBQSxJQUNBO0FBQUEsSUFDQTtBQUFBLElBQ0E7QUFBQSxJQUNBO0FBQUEsSUFDQTtBQUFBLElBQ0E7QUFBQSxFQUNGO0FBQ0Y7QUFNQSxlQUFzQixTQUF3QjtBQUM1QyxRQUFNLE1BQU0sS0FBSyxNQUFNLE1BQU07QUFDN0IsUUFBTSxHQUFHLEtBQUssRUFBRSxXQUFXLE1BQU0sT0FBTyxLQUFLLENBQUM7QUFDOUMsUUFBTSxRQUFRLE1BQU0sT0FBTztBQUFBLElBQ3pCLE9BQU87QUFBQSxJQUNQLFNBQVMsQ0FBQyxVQUFVO0FBQUEsSUFDcEIsV0FBVyxFQUFFLG1CQUFtQixNQUFNO0FBQUEsSUFDdEMsUUFBUSxDQUFDLEVBQUUsUUFBUSxNQUFNO0FBQ3ZCLFlBQU0sSUFBSSxNQUFNLE9BQU87QUFBQSxJQUN6QjtBQUFBLEVBQ0YsQ0FBQztBQUNELFFBQU0sTUFBTSxNQUFNO0FBQUEsSUFDaEI7QUFBQSxJQUNBLFFBQVE7QUFBQSxJQUNSLFdBQVc7QUFBQSxJQUNYLGdCQUFnQjtBQUFBLElBQ2hCLGdCQUFnQjtBQUFBLElBQ2hCLGNBQWMsTUFBTSxPQUFPLEtBQUs7QUFBQSxJQUNoQywwQkFBMEI7QUFBQSxFQUM1QixDQUFDO0FBQ0QsUUFBTSxNQUFNLE1BQU07QUFDbEIsUUFBTSxVQUFVLEtBQUssS0FBSywwQkFBMEIsR0FBRyxNQUFNLFNBQVMsQ0FBQztBQUN6RTtBQUdBLGVBQWUsV0FBNEI7QUFDekMsUUFBTSxRQUFRLE9BQU8sUUFBUSxPQUFPLEVBQ2pDLE9BQU8sQ0FBQyxDQUFDQyxLQUFJLE1BQU0sQ0FBQ0EsTUFBSyxXQUFXLFNBQVMsQ0FBQyxFQUM5QyxJQUFJLE9BQU8sQ0FBQ0EsT0FBTSxJQUFJLE1BQU0sR0FBR0EsS0FBSTtBQUFBO0FBQUEsRUFBTyxNQUFNLFlBQVksUUFBUSxJQUFJLENBQUMsQ0FBQyxFQUFFO0FBQy9FLFVBQVEsTUFBTSxRQUFRLElBQUksS0FBSyxHQUFHLEtBQUssTUFBTTtBQUMvQztBQUVBLGVBQWUsWUFBWSxXQUFvQztBQUM3RCxRQUFNQSxTQUFRLE1BQU0sUUFBUSxTQUFTLEdBQUcsS0FBSyxDQUFDLFVBQVUsTUFBTSxZQUFZLE1BQU0sU0FBUztBQUN6RixNQUFJQSxVQUFTLE9BQVcsT0FBTSxJQUFJLE1BQU0sR0FBRyxTQUFTLDZCQUE2QjtBQUNqRixTQUFPLE1BQU0sU0FBUyxLQUFLLFdBQVdBLEtBQUksR0FBRyxNQUFNO0FBQ3JEO0FBR0EsSUFBTSxhQUFxQjtBQUFBLEVBQ3pCLE1BQU07QUFBQSxFQUNOLFVBQVUsV0FBVyxVQUFVO0FBQzdCLFVBQU0sVUFBVSxRQUFRLFNBQVM7QUFDakMsUUFBSSxZQUFZLE9BQVcsUUFBTztBQUNsQyxRQUFJLGFBQWEsT0FBVyxRQUFPO0FBQ25DLFFBQUksVUFBVSxXQUFXLEdBQUcsRUFBRyxRQUFPO0FBQ3RDLFFBQUksQ0FBQyxVQUFVLFdBQVcsR0FBRyxFQUFHLFFBQU8sRUFBRSxJQUFJLFdBQVcsVUFBVSxNQUFNLG1CQUFtQixNQUFNO0FBQ2pHLFVBQU0sT0FBTyxRQUFRLFFBQVEsUUFBUSxHQUFHLFNBQVM7QUFDakQsV0FBTyxTQUFTLFNBQVMsS0FBSyxJQUFJLEtBQUssUUFBUSxTQUFTLEtBQUssSUFBSTtBQUFBLEVBQ25FO0FBQUEsRUFDQSxNQUFNLEtBQUssTUFBTTtBQUNmLFVBQU1DLFNBQVEsVUFBVSxJQUFJO0FBQzVCLFFBQUlBLE9BQU8sUUFBTyxNQUFNLFdBQVcsTUFBTUEsTUFBSztBQUM5QyxVQUFNLFNBQVMsTUFBTSxTQUFTLE1BQU0sTUFBTTtBQUMxQyxVQUFNLEVBQUUsTUFBTSxJQUFJLElBQUksTUFBTSxVQUFVLFFBQVE7QUFBQSxNQUM1QyxRQUFRLEtBQUssU0FBUyxLQUFLLElBQUksT0FBTztBQUFBLE1BQ3RDLFFBQVE7QUFBQSxNQUNSLFlBQVk7QUFBQSxNQUNaLFdBQVc7QUFBQSxNQUNYLGNBQWM7QUFBQSxNQUNkLGtCQUFrQjtBQUFBLElBQ3BCLENBQUM7QUFDRCxXQUFPLEVBQUUsTUFBTSxJQUFJO0FBQUEsRUFDckI7QUFDRjtBQUdBLGVBQWUsV0FBVyxNQUFjQSxRQUEyQztBQUNqRixRQUFNLFdBQVcsWUFBWUEsT0FBTSxLQUFLLElBQUksQ0FBQyxXQUFXLEtBQUssVUFBVSxJQUFJLENBQUM7QUFDNUUsUUFBTSxFQUFFLFlBQVksSUFBSSxNQUFNLGVBQWU7QUFBQSxJQUMzQyxPQUFPLEVBQUUsVUFBVSxZQUFZLFFBQVEsSUFBSSxFQUFFO0FBQUEsSUFDN0MsUUFBUTtBQUFBLElBQ1IsT0FBTztBQUFBLElBQ1AsUUFBUTtBQUFBLElBQ1IsVUFBVTtBQUFBLElBQ1YsUUFBUTtBQUFBLElBQ1IsY0FBYztBQUFBLElBQ2Qsa0JBQWtCO0FBQUEsSUFDbEIsU0FBUyxDQUFDLGdCQUFnQjtBQUFBLEVBQzVCLENBQUM7QUFDRCxTQUFPLFlBQVksQ0FBQyxHQUFHLFFBQVE7QUFDakM7QUFHQSxJQUFNLG1CQUFrQztBQUFBLEVBQ3RDLE1BQU07QUFBQSxFQUNOLE1BQU0sRUFBRSxXQUFXLE9BQU8sR0FBRztBQUMzQixjQUFVLEVBQUUsUUFBUSxTQUFTLEdBQUcsQ0FBQyxFQUFFLEtBQUssT0FBTyxFQUFFLE1BQU0sV0FBVyxtQkFBbUIsRUFBRTtBQUN2RixXQUFPLEVBQUUsUUFBUSxNQUFNLFdBQVcsbUJBQW1CLEdBQUcsQ0FBQyxFQUFFLEtBQUssTUFBTTtBQUNwRSxZQUFNLFFBQVEsNEJBQTRCLEtBQUssVUFBVSxJQUFJLENBQUM7QUFFOUQsWUFBTSxXQUFXLFNBQVM7QUFDMUIsYUFBTztBQUFBLFFBQ0wsVUFBVSxvQkFBb0IsV0FBVywwQkFBMEIsS0FBSyxlQUFlLEtBQUs7QUFBQSxNQUM5RjtBQUFBLElBQ0YsQ0FBQztBQUFBLEVBQ0g7QUFDRjtBQU1BLGVBQWUsT0FBTyxPQUFpRTtBQUNyRixRQUFNLEVBQUUsT0FBTyxJQUFJLE1BQU0sTUFBTSxTQUFTLEVBQUUsUUFBUSxLQUFLLENBQUM7QUFDeEQsUUFBTSxPQUFPLElBQUksSUFBSSxPQUFPLFFBQVEsQ0FBQyxTQUFVLEtBQUssU0FBUyxVQUFVLENBQUMsQ0FBQyxLQUFLLFVBQVUsSUFBSSxDQUFDLElBQUksQ0FBQyxDQUFFLENBQUM7QUFDckcsUUFBTSxTQUFTLE9BQU8sUUFBUSxNQUFNLEVBQUUsSUFBSSxDQUFDLENBQUNELE9BQU0sT0FBTyxNQUFNO0FBQzdELFVBQU0sVUFBVSxRQUFRLElBQUksQ0FBQyxVQUFVLEtBQUssUUFBUSxLQUFLLENBQUM7QUFDMUQsVUFBTSxRQUFRLENBQUMsR0FBRyxLQUFLLE9BQU8sQ0FBQyxFQUFFLE9BQU8sQ0FBQyxVQUFVLE1BQU0sVUFBVSxLQUFLLENBQUMsT0FBTyxRQUFRLFNBQVMsRUFBRSxDQUFDLENBQUM7QUFDckcsV0FBTyxFQUFFLE1BQUFBLE9BQU0sU0FBUyxJQUFJLElBQUksQ0FBQyxHQUFHLFVBQVUsT0FBTyxJQUFJLENBQUMsRUFBRSxRQUFRLENBQUMsVUFBVSxNQUFNLFNBQVMsQ0FBQyxFQUFFO0FBQUEsRUFDbkcsQ0FBQztBQUNELFNBQU8sQ0FBQyxPQUFPO0FBRWIsUUFBSSxPQUFPLE9BQU8sT0FBTyxFQUFFLFNBQVMsRUFBRSxFQUFHLFFBQU87QUFDaEQsVUFBTUMsU0FBUSxPQUFPLFFBQVEsQ0FBQyxFQUFFLE1BQUFELE9BQU0sUUFBUSxNQUFPLFFBQVEsSUFBSSxFQUFFLElBQUksQ0FBQ0EsS0FBSSxJQUFJLENBQUMsQ0FBRTtBQUNuRixRQUFJQyxPQUFNLFNBQVMsS0FBSyxFQUFHLFFBQU87QUFDbEMsV0FBT0EsT0FBTSxTQUFTLElBQUksV0FBV0EsT0FBTSxDQUFDO0FBQUEsRUFDOUM7QUFDRjtBQUdBLFNBQVMsVUFBVUMsU0FBZ0MsTUFBMEQ7QUFDM0csUUFBTSxRQUFRLElBQUksSUFBSUEsT0FBTTtBQUM1QixhQUFXLEVBQUUsUUFBUSxLQUFLLE9BQU87QUFDL0IsZUFBVyxRQUFRLFNBQVM7QUFDMUIsWUFBTSxRQUFRLEtBQUssSUFBSSxJQUFJO0FBQzNCLFVBQUksTUFBTyxPQUFNLElBQUksS0FBSztBQUFBLElBQzVCO0FBQUEsRUFDRjtBQUNBLFNBQU87QUFDVDs7O0FDdkxBLFNBQVMsZUFBZTs7O0FDRWpCLElBQU0sUUFBUSxDQUFDLFFBQVEsT0FBTyxTQUFTLE1BQU07OztBRENwRCxJQUFNLE9BQU8sRUFBRSxNQUFNLFVBQVUsV0FBVyxFQUFFO0FBQzVDLElBQU0sU0FBUyxFQUFFLE1BQU0sVUFBVSxTQUFTLEVBQUU7QUFDNUMsSUFBTSxXQUFXLEVBQUUsTUFBTSxVQUFVLGtCQUFrQixFQUFFO0FBQ3ZELElBQU0sUUFBUSxDQUFDLGlCQUF5QixFQUFFLE1BQU0sU0FBUyxPQUFPLE1BQU0sWUFBWTtBQUVsRixJQUFNLFNBQVMsRUFBRSxNQUFNLFVBQVUsTUFBTSxDQUFDLEdBQUcsT0FBTyxHQUFHLGFBQWEsNEJBQTRCO0FBRTlGLElBQU0sT0FBTztBQUFBLEVBQ1gsT0FBTztBQUFBLElBQ0wsRUFBRSxHQUFHLE1BQU0sYUFBYSxxREFBcUQ7QUFBQSxJQUM3RSxFQUFFLE1BQU0sVUFBVSxhQUFhLG1EQUFtRDtBQUFBLElBQ2xGO0FBQUEsTUFDRSxNQUFNO0FBQUEsTUFDTixVQUFVO0FBQUEsTUFDVixVQUFVO0FBQUEsTUFDVixhQUFhLENBQUMsRUFBRSxPQUFPLENBQUMsTUFBTSxFQUFFLE1BQU0sU0FBUyxDQUFDLEVBQUUsR0FBRyxFQUFFLE1BQU0sU0FBUyxDQUFDO0FBQUEsTUFDdkUsYUFBYTtBQUFBLElBQ2Y7QUFBQSxFQUNGO0FBQ0Y7QUFFQSxJQUFNLFFBQVE7QUFBQSxFQUNaLE1BQU07QUFBQSxFQUNOLFlBQVksRUFBRSxPQUFPLFFBQVEsUUFBUSxRQUFRLGFBQWEsUUFBUSxZQUFZLE9BQU87QUFBQSxFQUNyRixVQUFVLENBQUMsU0FBUyxRQUFRO0FBQUEsRUFDNUIsc0JBQXNCO0FBQ3hCO0FBRUEsSUFBTSxXQUFXO0FBQUEsRUFDZixNQUFNO0FBQUEsRUFDTixZQUFZO0FBQUEsSUFDVjtBQUFBLElBQ0EsT0FBTztBQUFBLElBQ1AsU0FBUyxFQUFFLEdBQUcsTUFBTSxRQUFRLE1BQU07QUFBQSxJQUNsQyxRQUFRLEVBQUUsR0FBRyxNQUFNLGFBQWEsNERBQTREO0FBQUEsSUFDNUYsU0FBUyxFQUFFLE1BQU0sVUFBVSxzQkFBc0IsRUFBRSxNQUFNLFNBQVMsRUFBRTtBQUFBLElBQ3BFLE1BQU0sRUFBRSxNQUFNLFVBQVUsYUFBYSwrQkFBK0I7QUFBQSxJQUNwRSxXQUFXLEVBQUUsR0FBRyxVQUFVLGFBQWEsb0NBQW9DO0FBQUEsRUFDN0U7QUFBQTtBQUFBLEVBRUEsc0JBQXNCO0FBQ3hCO0FBRUEsSUFBTSxVQUFVO0FBQUEsRUFDZCxNQUFNO0FBQUEsRUFDTixZQUFZO0FBQUEsSUFDVixVQUFVLEVBQUUsTUFBTSxXQUFXLFNBQVMsR0FBRyxhQUFhLDhDQUE4QztBQUFBLElBQ3BHLGNBQWMsRUFBRSxHQUFHLFVBQVUsYUFBYSxvREFBb0Q7QUFBQSxJQUM5RixZQUFZLEVBQUUsR0FBRyxVQUFVLGFBQWEsNERBQTREO0FBQUEsSUFDcEcsWUFBWSxFQUFFLEdBQUcsVUFBVSxhQUFhLHVDQUF1QztBQUFBLEVBQ2pGO0FBQUEsRUFDQSxzQkFBc0I7QUFBQSxFQUN0QixhQUFhO0FBQ2Y7QUFFQSxJQUFNLGVBQWU7QUFBQSxFQUNuQixPQUFPO0FBQUEsSUFDTCxFQUFFLE1BQU0sU0FBUztBQUFBLElBQ2pCO0FBQUEsTUFDRSxNQUFNO0FBQUEsTUFDTixZQUFZO0FBQUEsUUFDVixNQUFNLEVBQUUsTUFBTSxTQUFTO0FBQUEsUUFDdkIsTUFBTSxFQUFFLE1BQU0sU0FBUztBQUFBLFFBQ3ZCLE9BQU8sRUFBRSxNQUFNLFNBQVM7QUFBQSxRQUN4QixhQUFhLEVBQUUsTUFBTSxVQUFVO0FBQUEsUUFDL0IsUUFBUSxFQUFFLE1BQU0sU0FBUztBQUFBLE1BQzNCO0FBQUEsTUFDQSxzQkFBc0I7QUFBQSxJQUN4QjtBQUFBLEVBQ0Y7QUFBQSxFQUNBLGFBQWE7QUFDZjtBQUVBLElBQU0sVUFBVTtBQUFBLEVBQ2QsTUFBTTtBQUFBLEVBQ04sWUFBWTtBQUFBLElBQ1Y7QUFBQSxJQUNBLE9BQU8sTUFBTSx1REFBdUQ7QUFBQSxJQUNwRSxPQUFPO0FBQUEsSUFDUDtBQUFBLEVBQ0Y7QUFBQSxFQUNBLHNCQUFzQjtBQUN4QjtBQU1PLElBQU0sZ0JBQTRCO0FBQUEsRUFDdkMsU0FBUztBQUFBLEVBQ1QsT0FBTztBQUFBLEVBQ1AsTUFBTTtBQUFBLEVBQ04sWUFBWTtBQUFBLElBQ1YsU0FBUyxFQUFFLE1BQU0sU0FBUztBQUFBLElBQzFCLE9BQU8sRUFBRSxNQUFNLFNBQVMsT0FBTyxNQUFNLGFBQWEscURBQXFEO0FBQUEsSUFDdkcsUUFBUSxNQUFNLHdEQUF3RDtBQUFBLElBQ3RFLFNBQVMsTUFBTSxtQkFBbUI7QUFBQSxJQUNsQyxTQUFTLE1BQU0sd0NBQXdDO0FBQUEsSUFDdkQsYUFBYTtBQUFBLE1BQ1gsTUFBTTtBQUFBLE1BQ04sWUFBWTtBQUFBLFFBQ1YsT0FBTyxNQUFNLGlFQUFpRTtBQUFBLFFBQzlFLEtBQUssTUFBTSw0QkFBNEI7QUFBQSxRQUN2QyxNQUFNLE1BQU0sc0JBQXNCO0FBQUEsTUFDcEM7QUFBQSxNQUNBLHNCQUFzQjtBQUFBLElBQ3hCO0FBQUEsSUFDQSxNQUFNLEVBQUUsTUFBTSxVQUFVLE1BQU0sQ0FBQyxHQUFHLEtBQUssR0FBRyxhQUFhLDRDQUE0QztBQUFBLElBQ25HLFVBQVUsRUFBRSxNQUFNLFdBQVcsYUFBYSw4Q0FBOEM7QUFBQSxJQUN4RixTQUFTLE1BQU0sMERBQTBEO0FBQUEsSUFDekUsVUFBVSxFQUFFLE9BQU8sQ0FBQyxNQUFNLFFBQVEsR0FBRyxhQUFhLDBDQUEwQztBQUFBLElBQzVGLE9BQU8sRUFBRSxHQUFHLE1BQU0sYUFBYSx3RUFBd0U7QUFBQSxJQUN2RyxVQUFVLEVBQUUsR0FBRyxNQUFNLGFBQWEsaURBQWlEO0FBQUEsSUFDbkYsUUFBUTtBQUFBLE1BQ04sTUFBTTtBQUFBLE1BQ04sc0JBQXNCO0FBQUEsTUFDdEIsYUFBYTtBQUFBLElBQ2Y7QUFBQSxJQUNBO0FBQUEsSUFDQSxRQUFRLEVBQUUsTUFBTSxVQUFVLHNCQUFzQixTQUFTLGFBQWEsMEJBQTBCO0FBQUEsSUFDaEcsUUFBUTtBQUFBLE1BQ04sT0FBTyxDQUFDLFVBQVUsRUFBRSxPQUFPLE1BQU0sQ0FBQztBQUFBLE1BQ2xDLGFBQWE7QUFBQSxJQUNmO0FBQUEsSUFDQTtBQUFBLElBQ0EsVUFBVSxFQUFFLEdBQUcsVUFBVSxhQUFhLCtDQUErQztBQUFBLElBQ3JGLFlBQVksRUFBRSxHQUFHLFVBQVUsYUFBYSw4REFBOEQ7QUFBQSxJQUN0RyxlQUFlLEVBQUUsR0FBRyxVQUFVLGFBQWEsaURBQWlEO0FBQUEsSUFDNUYsWUFBWTtBQUFBLE1BQ1YsTUFBTTtBQUFBLE1BQ04sU0FBUztBQUFBLE1BQ1QsYUFBYTtBQUFBLElBQ2Y7QUFBQSxJQUNBLE1BQU07QUFBQSxNQUNKLE1BQU07QUFBQSxNQUNOLFlBQVk7QUFBQSxRQUNWO0FBQUEsUUFDQSxtQkFBbUI7QUFBQSxVQUNqQixHQUFHO0FBQUEsVUFDSCxhQUFhO0FBQUEsUUFDZjtBQUFBLE1BQ0Y7QUFBQSxNQUNBLHNCQUFzQjtBQUFBLE1BQ3RCLGFBQWE7QUFBQSxJQUNmO0FBQUEsRUFDRjtBQUFBLEVBQ0Esc0JBQXNCO0FBQ3hCOzs7QUhqSkEsTUFBTSxPQUFPO0FBQ2IsTUFBTUMsV0FBVSwyQkFBMkIsR0FBRyxLQUFLLFVBQVUsZUFBZSxNQUFNLENBQUMsQ0FBQztBQUFBLENBQUk7QUFFeEYsSUFBTyxzQkFBUSxhQUFhO0FBQUEsRUFDMUIsT0FBTyxFQUFFLFFBQVEsK0JBQStCO0FBQUEsRUFDaEQsS0FBSyxFQUFFLE1BQU0sS0FBSztBQUFBLEVBQ2xCLE9BQU87QUFDVCxDQUFDOyIsCiAgIm5hbWVzIjogWyJ3cml0ZUZpbGUiLCAibmFtZSIsICJuYW1lcyIsICJjaHVua3MiLCAid3JpdGVGaWxlIl0KfQo=
