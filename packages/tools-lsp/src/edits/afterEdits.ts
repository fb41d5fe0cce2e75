import type { CallHooks, HookCall } from "@agent/core";
import { withTimeout } from "@agent/core/toolkit";
import { PACK_NAME } from "../options.js";
import type { Diagnostic } from "../protocol/messages.js";
import { type FileText, readText } from "../server/documents.js";
import { NoPush } from "../server/languageServer.js";
import { isBelow, type Servers, type Slot } from "../server/servers.js";
import { diagnosticLine, shownPath } from "./report.js";

/** More files than this in one call are a bulk change: checking them would take too long. */
const MAX_FILES = 20;
/** Files whose errors are still to be reported. */
const MAX_PENDING = 100;
/** A server that takes longer for one check is considered unresponsive. */
const HANG_MS = 60_000;
const HOOK_GRACE_MS = 30_000;

/** A file that was changed and whose new errors were not reported yet. */
interface PendingFile {
  readonly path: string;
  readonly slot: Slot;
  readonly existed: boolean;
  /** The errors before the change. Never rejects: without an answer no error counts as new. */
  readonly before: Promise<CheckedText | undefined>;
}

interface FileErrors {
  readonly path: string;
  readonly errors: readonly Diagnostic[];
}

/**
 * Adds the new errors of the files that a call has written to its result. The errors before the call are requested
 * while the call runs. Never fails, and never waits longer than the settings allow: later errors are reported with the
 * next call that writes files of the same server.
 */
export class AfterEdits {
  readonly #servers: Servers;
  readonly #pending = new Map<string, PendingFile>();

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  get hooks(): CallHooks {
    return {
      name: PACK_NAME,
      // A hook that takes longer would withhold the result.
      timeoutMs: this.#servers.settings.waitMs + HOOK_GRACE_MS,
      beforeRun: (call) => this.#beforeRun(call),
      afterCall: (call) => this.#afterCall(call),
    };
  }

  async #beforeRun(call: HookCall): Promise<void> {
    if (!call.capabilities.includes("write")) return;
    try {
      const { written } = await this.#filesOf(call);
      for (const { path, slot } of written) {
        if (slot && !this.#pending.has(path)) await this.#remember(path, slot);
      }
    } catch {
      // An edit must never fail because of its diagnostics.
    }
  }

  async #afterCall(call: HookCall): Promise<{ readonly append: string } | undefined> {
    if (!call.capabilities.includes("write")) return undefined;
    try {
      const { written, removed } = await this.#filesOf(call);
      this.#announce(
        written.map(({ path }) => path),
        removed,
      );
      for (const path of removed) this.#pending.delete(path);
      const slots = new Set(written.flatMap(({ slot }) => (slot ? [slot] : [])));
      if (slots.size === 0) return undefined;
      const files = [...this.#pending.values()].filter(({ slot }) => slots.has(slot)).slice(0, MAX_FILES);
      const found = (await this.#check(files, slots)).filter(({ errors }) => errors.length > 0);
      return found.length === 0 ? undefined : { append: this.#report(found) };
    } catch {
      return undefined;
    }
  }

  /** The files that a call writes and removes, by its description. Directories and unknown targets are skipped. */
  async #filesOf(call: HookCall): Promise<{
    readonly written: readonly { readonly path: string; readonly slot: Slot | undefined }[];
    readonly removed: readonly string[];
  }> {
    const { targets = [] } = await call.describe();
    const paths = new Set<string>();
    const removed: string[] = [];
    for (const target of targets) {
      if (target.type !== "file" || target.tree) continue;
      if (target.access === "write") paths.add(target.realPath ?? target.path);
      else if (target.access === "delete") removed.push(target.path);
    }
    const written = [...paths].slice(0, MAX_FILES).map((path) => ({ path, slot: this.#servers.find(path) }));
    return { written, removed };
  }

  /** Asks for the errors before the change. The call does not wait for the answer. */
  async #remember(path: string, slot: Slot): Promise<void> {
    const file = await readText(path);
    const before = file
      ? this.#errorsOf(slot, path, file).catch(() => undefined)
      : Promise.resolve<CheckedText | undefined>(NOTHING);
    this.#pending.set(path, { path, slot, existed: file !== undefined, before });
    const [oldest] = this.#pending.keys();
    if (this.#pending.size > MAX_PENDING && oldest !== undefined) this.#pending.delete(oldest);
    // A file that did not exist has no errors yet, but its server can start while the call runs.
    if (!file && slot.broken === undefined) slot.use();
  }

  /** Rejects, never throws, if the server is not started again: the call may write files of other servers too. */
  async #errorsOf(slot: Slot, path: string, file: FileText): Promise<CheckedText> {
    return await slot.use().inOrder(async () => {
      const server = await slot.show(path, file);
      const signal = AbortSignal.timeout(HANG_MS);
      try {
        return { text: file.text, diagnostics: await server.diagnostics(path, signal) };
      } catch (error) {
        if (signal.aborted && !server.isLoading) slot.fail(`it did not answer within ${HANG_MS} ms`);
        throw error;
      }
    });
  }

  /** Notifies the running servers about files, whatever their language: a configuration file may be among them. */
  #announce(written: readonly string[], removed: readonly string[]): void {
    for (const slot of this.#servers.list()) {
      if (!slot.running) continue;
      const inside = written.filter((path) => isBelow(slot.root, path));
      const created = inside.filter((path) => this.#pending.get(path)?.existed === false);
      slot.running.announceFiles(
        inside.filter((path) => !created.includes(path)),
        created,
        removed.filter((path) => isBelow(slot.root, path)),
      );
    }
  }

  async #check(files: readonly PendingFile[], slots: ReadonlySet<Slot>): Promise<FileErrors[]> {
    const found: FileErrors[] = [];
    let open = true;
    const checks = [...slots].map((slot) => {
      const isSlow = slot.late !== undefined;
      const work = this.#checkSlot(
        files.filter((file) => file.slot === slot),
        (one) => {
          if (!open) return false;
          found.push(one);
          return true;
        },
      ).finally(() => {
        if (slot.late === work) slot.late = undefined;
      });
      work.catch(() => undefined);
      return { slot, work, isSlow };
    });
    // Does not wait for a server that has not finished an earlier check: one slow server must not slow down every edit.
    const waited = checks.filter(({ isSlow }) => !isSlow).map(({ work }) => work);
    const checked = Promise.allSettled(waited).then(() => true);
    const done = await withTimeout(checked, this.#servers.settings.waitMs, () => false);
    open = false;
    for (const { slot, work, isSlow } of checks) {
      if (done && !isSlow) continue;
      slot.late = work;
      slot.timeouts++;
    }
    return found;
  }

  /** Checks files one after the other. Files that are not checked in time stay pending. */
  async #checkSlot(files: readonly PendingFile[], take: (found: FileErrors) => boolean): Promise<void> {
    for (const { path, slot, before } of files) {
      const old = await before;
      const file = await readText(path);
      if (!old || !file) {
        this.#pending.delete(path);
        continue;
      }
      const checked = await this.#errorsOf(slot, path, file).catch((error: unknown) => {
        // A server that is slow to push may do so before the next edit.
        if (!(error instanceof NoPush)) this.#pending.delete(path);
        throw error;
      });
      if (take({ path, errors: newErrors(old, checked) })) this.#pending.delete(path);
    }
  }

  #report(found: readonly FileErrors[]): string {
    const { maxErrors } = this.#servers.settings;
    const { base } = this.#servers.guard;
    const lines = found.flatMap(({ path, errors }) =>
      errors.map((error) => diagnosticLine(shownPath(path, base), error)),
    );
    const more = lines.length - maxErrors;
    return [
      "New errors after this change:",
      ...lines.slice(0, maxErrors),
      ...(more > 0 ? [`… and ${more} more.`] : []),
    ].join("\n");
  }
}

const ERROR = 1;

/** The errors of a text, each with the line of code it is in. */
interface CheckedText {
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

const NOTHING: CheckedText = { text: "", diagnostics: [] };

/**
 * The errors of the new text that the old one did not have. Lines move, so errors are compared by their message and the
 * code in their line; an error whose line was edited counts as new only if there are more of its kind than before.
 */
function newErrors(before: CheckedText, after: CheckedText): Diagnostic[] {
  const old = new Map<string, string[]>();
  for (const { kind, code } of errorsOf(before)) old.set(kind, [...(old.get(kind) ?? []), code]);
  const rest = errorsOf(after).filter(({ kind, code }) => {
    const lines = old.get(kind);
    const index = lines?.indexOf(code) ?? -1;
    if (index !== -1) lines?.splice(index, 1);
    return index === -1;
  });
  return rest.flatMap(({ kind, diagnostic }) => (old.get(kind)?.pop() === undefined ? [diagnostic] : []));
}

function errorsOf({ text, diagnostics }: CheckedText) {
  const errors = diagnostics.filter(({ severity }) => severity === ERROR);
  if (errors.length === 0) return [];
  const lines = text.split("\n");
  return errors.map((diagnostic) => ({
    diagnostic,
    kind: `${diagnostic.code}\0${diagnostic.message}`,
    code: (lines[diagnostic.range.start.line] ?? "").trim(),
  }));
}
