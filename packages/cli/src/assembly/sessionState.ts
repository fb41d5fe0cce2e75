import { readFileSync } from "node:fs";
import { formatRule, MODES, type Mode, type Permissions, parseRule } from "@agent/core/host";
import { isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { countOf } from "@agent/internal";
import { MODE_NAMES } from "@agent/terminal/host";
import { stateFile } from "../sessions/sessions.js";
import type { AssembledTools } from "./assembleTools.js";
import { undecidedTools } from "./requestTool.js";

/** The settings a user changed in a chat. */
interface SessionState {
  readonly mode: Mode;
  /** Tools that were enabled and disabled. */
  readonly on: readonly string[];
  readonly off: readonly string[];
  /** Rules for the session. */
  readonly allow: readonly string[];
}

interface Switched {
  readonly tools: AssembledTools;
  readonly permissions: Permissions;
  /** Whether a flag or variable of this start sets the mode: then it is kept. */
  readonly isModeGiven: boolean;
}

/** Stores the user's settings next to a session, so that `--resume` restores them. */
export class SessionStates {
  readonly #switched: Switched;
  readonly #mode: Mode;
  /** The settings as they were outside plan mode, which temporarily disables tools. */
  #tools: Pick<SessionState, "on" | "off"> = { on: [], off: [] };
  /** The content of the file next to the session that was saved or restored last. */
  #saved: { readonly file: string; readonly text: string } | undefined;

  constructor(switched: Switched) {
    this.#switched = switched;
    this.#mode = switched.permissions.mode;
  }

  /** Restores the settings of a session. Returns the changes as lines for the user. */
  async restore(file: string): Promise<string[]> {
    const state = readState(file);
    this.#saved = state && { file, text: textOf(state) };
    if (!state) return [];
    const { tools, permissions, isModeGiven } = this.#switched;
    const { registry } = tools;
    const undecided = undecidedTools(tools).map(({ name }) => name);
    const on = state.on.filter((name) => undecided.includes(name) && registry.enable(name));
    const off = state.off.filter((name) => this.#isOnBySettings(name) && registry.disable(name));
    this.#tools = { on, off };
    for (const text of state.allow) await permissions.grant(parseRule(text), "session");
    const isOtherMode = !isModeGiven && state.mode !== permissions.mode;
    if (isOtherMode) permissions.mode = state.mode;
    const parts = [
      ...(isOtherMode ? [`mode ${MODE_NAMES[state.mode]}`] : []),
      ...(on.length > 0 ? [`${on.join(", ")} on`] : []),
      ...(off.length > 0 ? [`${off.join(", ")} off`] : []),
      ...(state.allow.length > 0 ? [`${countOf(state.allow.length, "permission")} (/permissions)`] : []),
    ];
    return parts.length === 0 ? [] : [`Restored from the session: ${parts.join("; ")}.`];
  }

  /**
   * Switches from the current session to another one and resets the settings of the current one. Returns the changes as
   * lines for the user.
   */
  async switchTo(file: string): Promise<string[]> {
    const { tools, permissions, isModeGiven } = this.#switched;
    const { mode } = permissions;
    // Outside plan mode, which temporarily disables tools.
    permissions.mode = "ask";
    const { on, off } = this.#readTools();
    for (const name of on) tools.registry.disable(name);
    for (const name of off) tools.registry.enable(name);
    const grants = permissions.grants.filter(({ scope }) => scope === "session");
    for (const grant of grants) await permissions.revoke(grant);
    this.#tools = { on: [], off: [] };
    permissions.mode = isModeGiven ? mode : this.#mode;
    const restored = await this.restore(file);
    const isReset = on.length + off.length + grants.length > 0 || permissions.mode !== mode;
    if (restored.length > 0 || !isReset) return restored;
    return ["Mode, tools and permissions are reset to your settings."];
  }

  /** Never rejects: without the file the next start asks again. */
  async save(file: string): Promise<void> {
    const { permissions } = this.#switched;
    if (permissions.mode !== "plan") this.#tools = this.#readTools();
    const state: SessionState = {
      mode: permissions.mode,
      ...this.#tools,
      allow: permissions.grants
        .filter(({ scope }) => scope === "session")
        .map(({ rule }) => formatRule(rule)),
    };
    const isChanged =
      state.mode !== this.#mode || [state.on, state.off, state.allow].some(({ length }) => length > 0);
    const text = textOf(state);
    const saved = this.#saved?.file === file ? this.#saved.text : undefined;
    if (text === saved || (!isChanged && saved === undefined)) return;
    this.#saved = { file, text };
    await writeFileAtomic(stateFile(file), text, { follow: false, mode: 0o600 }).catch(() => undefined);
  }

  #readTools(): Pick<SessionState, "on" | "off"> {
    const { registry } = this.#switched.tools;
    const names = registry.getToolNames();
    const isOn = (name: string): boolean => registry.isToolEnabled(name);
    return {
      on: names.filter((name) => isOn(name) && !this.#isOnBySettings(name)),
      off: names.filter((name) => !isOn(name) && this.#isOnBySettings(name)),
    };
  }

  #isOnBySettings(name: string): boolean {
    return this.#switched.tools.on.has(name);
  }
}

function textOf(state: SessionState): string {
  return `${JSON.stringify(state)}\n`;
}

function readState(file: string): SessionState | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(stateFile(file), "utf8"));
    if (!isRecord(value)) return undefined;
    const mode = MODES.find((one) => one === value.mode);
    const texts = (list: unknown): string[] =>
      Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
    const allow = texts(value.allow).filter(isRule);
    return mode && { mode, on: texts(value.on), off: texts(value.off), allow };
  } catch {
    return undefined;
  }
}

function isRule(text: string): boolean {
  try {
    parseRule(text);
    return true;
  } catch {
    return false;
  }
}
