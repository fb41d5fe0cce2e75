import type { ResultView } from "@agent/core";
import { fenced, spellOut } from "@agent/internal";
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { diffContent, shownLine, textContent } from "./toolCalls.js";

/** Draws the view of a result in an editor, which shows Markdown. */
export function viewContent(view: ResultView, cwd: string): ToolCallContent[] {
  if (view.type === "diff") return diffContent(view.files, cwd);
  const text = markdownOf(view);
  const more = view.more ? `${text === "" ? "" : "\n\n"}… and ${view.more} more` : "";
  return text + more === "" ? [] : [textContent(text + more)];
}

/** The end of a command's output with its exit code, as a terminal shows it. */
function outputText({ text, exitCode, files = [] }: Extract<ResultView, { type: "output" }>): string {
  const end = exitCode === undefined || exitCode === 0 ? [] : [`[exit code ${exitCode}]`];
  const kept = files.map(({ label, path }) => `[${label}: ${path}]`);
  return [text.replace(/\n$/, ""), ...end, ...kept].filter((part) => part !== "").join("\n");
}

function markdownOf(view: Exclude<ResultView, { type: "diff" }>): string {
  switch (view.type) {
    case "output": {
      const text = outputText(view);
      return text === "" ? "" : fenced(spellOut(text));
    }
    case "code": {
      const { text, path, startLine } = view;
      const place =
        path === undefined ? "" : `${cell(startLine === undefined ? path : `${path}:${startLine}`)}\n`;
      return place + fenced(text, languageOf(path));
    }
    case "list":
      return fenced(view.items.map(listLine).join("\n"));
    case "table":
      return [view.columns, view.columns.map(() => "---"), ...view.rows]
        .map((row) => `| ${row.map(cell).join(" | ")} |`)
        .join("\n");
    case "fields":
      return view.fields.map(([name, value]) => `- **${cell(name)}**: ${cell(value)}`).join("\n");
    case "markdown":
      return view.text;
  }
}

function listLine({ text, path, line }: Extract<ResultView, { type: "list" }>["items"][number]): string {
  if (path === undefined || path === text) return shownLine(line === undefined ? text : `${text}:${line}`);
  return shownLine(`${path}${line === undefined ? "" : `:${line}`}: ${text}`);
}

/** A text in a cell of a Markdown table or in a line: nothing in it is read as Markdown. */
function cell(text: string): string {
  return shownLine(text).replace(/[\\`*_{}[\]<>()#|!~]/g, "\\$&");
}

function languageOf(path: string | undefined): string {
  return /\.([A-Za-z0-9]{1,12})$/.exec(path ?? "")?.[1]?.toLowerCase() ?? "";
}
