import { readdir, readFile, realpath } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

export async function ask(question: string, root: string, baseURL: string): Promise<string> {
  const provider = createOpenAICompatible({ name: "example", baseURL, apiKey: "key" });
  const inside = async (path: string) => {
    const real = await realpath(resolve(root, path));
    if (relative(await realpath(root), real).startsWith("..")) throw new Error(`${path} is outside.`);
    return real;
  };
  const read_file = tool({
    description: "Read a file.",
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => (await readFile(await inside(path), "utf8")).slice(0, 65_536),
  });
  const list_dir = tool({
    description: "List a directory.",
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => (await readdir(await inside(path))).join("\n"),
  });
  const search_text = tool({
    description: "Find lines that contain a text.",
    inputSchema: z.object({ query: z.string(), paths: z.array(z.string()) }),
    execute: async ({ query, paths }) => {
      const folders = await Promise.all(paths.map(inside));
      const options = { recursive: true, withFileTypes: true } as const;
      const entries = (await Promise.all(folders.map((folder) => readdir(folder, options)))).flat();
      const found: string[] = [];
      for (const entry of entries.filter((one) => one.isFile())) {
        const file = join(entry.parentPath, entry.name);
        for (const [index, line] of (await readFile(file, "utf8")).split("\n").entries()) {
          if (line.includes(query)) found.push(`${relative(root, file)}:${index + 1}:${line}`);
        }
      }
      return found.slice(0, 100).join("\n");
    },
  });
  const { text } = await generateText({
    model: provider("model"),
    prompt: question,
    tools: { read_file, list_dir, search_text },
    stopWhen: stepCountIs(100),
  });
  return text;
}
