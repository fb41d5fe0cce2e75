import { isRecord } from "@agent/core/toolkit";
import { parseLooseJson } from "./looseJson.js";

// The buttons "Add to Cursor" and "Install in VS Code" of project pages.
const LINK = /^(?:cursor:|vscode(?:-insiders)?:|https:).*\b(?:mcp\/install|install-mcp)\/?\?/i;

/** The server in a link that installs it in an editor; undefined for any other text. */
export function readInstallLink(text: string): Record<string, unknown> | undefined {
  if (!LINK.test(text) || !URL.canParse(text)) return undefined;
  const { search, searchParams } = new URL(text);
  const config = searchParams.get("config") ?? decodeURIComponent(search.slice(1));
  const json = config.startsWith("{") ? config : Buffer.from(config, "base64").toString("utf8");
  const block = parseLooseJson(json);
  if (!isRecord(block)) return undefined;
  const name = searchParams.get("name");
  return name === null ? block : { name, ...block };
}
