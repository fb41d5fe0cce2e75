import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import nodeFs, {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { warningsDuring } from "@agent/test-support";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { agentWith, call } from "../../test/conversation.js";
import { fakeTool, temporaryDirectory } from "../../test/fixtures.js";
import type { ChatMessage } from "../providers/interface.js";
import { type AssistantMessage, Conversation, type ToolMessage } from "./conversation.js";
import { recordSession } from "./recorder.js";
import { loadSession, saveSession } from "./session.js";

const user = (content: string): ChatMessage => ({ role: "user", content });

async function continued(path: string): Promise<Conversation> {
  return new Conversation({ session: await loadSession(path) });
}

describe("recording", () => {
  test("writes each change to the file as soon as it has happened, private to its owner", () => {
    const path = join(temporaryDirectory(), "new", "session.jsonl");
    const conversation = new Conversation({ systemPrompt: "Be brief." });
    recordSession(conversation, path);
    expect(existsSync(path)).toBe(false);
    conversation.append(user("one"));
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("loads the conversation that was recorded, through clearing and a new system prompt", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path);
    const agent = agentWith([call("greet"), "Hello."], [fakeTool("greet")], { conversation });
    await agent.chat("first");
    agent.clearContext();
    agent.setSystemPrompt("Answer in verse.");
    conversation.append(user("second"));
    await recorder.close();
    expect(await loadSession(path)).toMatchObject({
      systemPrompt: "Answer in verse.",
      messages: [user("second")],
    });
  });

  test("notes the save of save_session_context in the recorded file and names it", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const conversation = new Conversation();
    recordSession(conversation, path);
    const agent = agentWith([], [], { conversation });
    conversation.append(user("one"));
    expect(await agent.saveContext("for later")).toBe(`Saved 1 message to ${path}`);
    expect((await loadSession(path)).reason).toBe("for later");
  });

  test("records nothing after close", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path);
    conversation.append(user("one"));
    await recorder.close();
    conversation.append(user("two"));
    expect((await loadSession(path)).messages).toEqual([user("one")]);
    expect(conversation.sessionContextFilePath).not.toBe(path);
  });
});

describe("continuing a file", () => {
  test("removes, before anything is added, a last line that was cut off", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    await saveSession(path, { systemPrompt: "", messages: [user("one")] });
    appendFileSync(path, '{"type":"message","message":{"role":"us');
    const conversation = await continued(path);
    const recorder = recordSession(conversation, path);
    conversation.append(user("two"));
    await recorder.close();
    expect((await loadSession(path)).messages).toEqual([user("one"), user("two")]);
  });

  test.each(["", '{"format":"agent-session","version":2,"crea'])(
    "restarts a file of a writer that was killed in its first line (%j)",
    async (content) => {
      const path = join(temporaryDirectory(), "session.jsonl");
      writeFileSync(path, content);
      const conversation = new Conversation();
      recordSession(conversation, path);
      conversation.append(user("one"));
      expect((await loadSession(path)).messages).toEqual([user("one")]);
    },
  );

  test("replaces a file of version 1 with one of this version on the first change, through a link", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "session.json");
    const link = join(directory, "latest.json");
    symlinkSync(path, link);
    const old = { format: "agent-session", version: 1, systemPrompt: "Hi.", messages: [user("one")] };
    writeFileSync(path, JSON.stringify(old, undefined, 2));
    const conversation = await continued(link);
    recordSession(conversation, link);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(old);
    conversation.append(user("two"));
    expect(await loadSession(path)).toMatchObject({
      systemPrompt: "Hi.",
      messages: [user("one"), user("two")],
    });
    expect(readdirSync(directory).toSorted()).toEqual(["latest.json", "session.json"]);
  });

  test("leaves no temporary file if a file of version 1 cannot be replaced", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "session.json");
    writeFileSync(
      path,
      JSON.stringify({ format: "agent-session", version: 1, systemPrompt: "", messages: [] }),
    );
    const conversation = await continued(path);
    const onError = vi.fn();
    recordSession(conversation, path, { onError });
    rmSync(path);
    mkdirSync(path);
    conversation.append(user("two"));
    expect(onError).toHaveBeenCalledOnce();
    expect(readdirSync(directory)).toEqual(["session.json"]);
  });

  test("notes another system prompt, and does not rewrite the old one", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    await saveSession(path, { systemPrompt: "old", messages: [user("one")] });
    const before = readFileSync(path, "utf8");
    const conversation = new Conversation({ session: await loadSession(path), systemPrompt: "new" });
    recordSession(conversation, path);
    conversation.append(user("two"));
    expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
    expect(await loadSession(path)).toMatchObject({ systemPrompt: "new" });
  });

  test("adds nothing but the new message if the system prompt is the same", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    await saveSession(path, { systemPrompt: "Be brief.", messages: [user("one")] });
    const before = readFileSync(path, "utf8");
    const conversation = await continued(path);
    recordSession(conversation, path);
    conversation.append(user("two"));
    const added = readFileSync(path, "utf8").slice(before.length).trimEnd().split("\n");
    expect(added.map((line) => JSON.parse(line))).toMatchObject([{ type: "message", message: user("two") }]);
  });

  test("gives a call that was in flight when the program was killed a result that explains it", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const conversation = new Conversation();
    recordSession(conversation, path);
    conversation.append(user("go"));
    const round = conversation.openRound({
      role: "assistant",
      content: null,
      tool_calls: ["a", "b"].map((id) => ({
        id,
        type: "function",
        function: { name: "t", arguments: "{}" },
      })),
    });
    round.addResult({ role: "tool", tool_call_id: "b", content: "done b" });
    const resumed = await continued(path);
    expect(resumed.sessionContext.slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: expect.stringContaining("may or may not have run") },
      { role: "tool", tool_call_id: "b", content: "done b" },
    ]);
    recordSession(resumed, path);
    resumed.append(user("and now?"));
    expect((await loadSession(path)).messages).toEqual(resumed.sessionContext);
  });

  test("loads a session of 300,000 messages, and replaces as many", async () => {
    const messages = Array.from({ length: 300_000 }, () => user("x"));
    const conversation = new Conversation({ session: { systemPrompt: "", messages } });
    expect(conversation.sessionContext).toHaveLength(300_000);
    conversation.replace(1, 299_998, [...messages, user("last")]);
    expect(conversation.sessionContext).toHaveLength(300_003);
    expect(conversation.sessionContext.at(-2)).toEqual(user("last"));
  });

  test("records, loads and continues a session of 50,000 messages", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path);
    for (let index = 0; index < 50_000; index++)
      conversation.append(user(`message ${index} ${"x".repeat(100)}`));
    await recorder.close();
    const resumed = await continued(path);
    expect(resumed.sessionContext).toHaveLength(50_000);
    recordSession(resumed, path);
    resumed.append(user("last"));
    expect((await loadSession(path)).messages.at(-1)).toEqual(user("last"));
  });
});

describe("files that are not to be written", () => {
  test("refuses another conversation's file and leaves it unchanged", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    await saveSession(path, { systemPrompt: "", messages: [user("someone else's")] });
    const before = readFileSync(path, "utf8");
    expect(() => recordSession(new Conversation(), path)).toThrow(/holds another conversation/);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("refuses a file that is not a session and leaves it as it is", () => {
    const path = join(temporaryDirectory(), "notes.txt");
    writeFileSync(path, "dear diary\n");
    expect(() => recordSession(new Conversation(), path)).toThrow(/not an intact session/);
    expect(readFileSync(path, "utf8")).toBe("dear diary\n");
  });

  test("refuses what is not a conversation", () => {
    expect(() => recordSession({} as Conversation, "a.jsonl")).toThrow("conversation must be a Conversation");
  });

  test("refuses an impossible path immediately", () => {
    const file = join(temporaryDirectory(), "file");
    writeFileSync(file, "");
    expect(() => recordSession(new Conversation(), join(file, "session.jsonl"))).toThrow(
      /cannot be continued/,
    );
  });

  test("refuses a directory or a FIFO immediately", () => {
    const directory = temporaryDirectory();
    const fifo = join(directory, "fifo");
    execFileSync("mkfifo", [fifo]);
    expect(() => recordSession(new Conversation(), fifo)).toThrow(/not a regular file/);
    expect(() => recordSession(new Conversation(), directory)).toThrow(/not a regular file/);
  });

  test("reports a FIFO that appears before the first change, and waits for nothing", () => {
    const fifo = join(temporaryDirectory(), "fifo");
    const errors: Error[] = [];
    const conversation = new Conversation();
    recordSession(conversation, fifo, { onError: (error) => errors.push(error) });
    execFileSync("mkfifo", [fifo]);
    conversation.append(user("one"));
    expect(errors).toHaveLength(1);
  });

  test("refuses the second of two recorders of one new file", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const errors: Error[] = [];
    const [first, second] = [new Conversation(), new Conversation()];
    recordSession(first, path);
    recordSession(second, path, { onError: (error) => errors.push(error) });
    first.append(user("first"));
    second.append(user("second"));
    expect(errors).toHaveLength(1);
    expect((await loadSession(path)).messages).toEqual([user("first")]);
  });

  test("refuses the second writer of two programs that continue with one file", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    await saveSession(path, { systemPrompt: "", messages: [user("one")] });
    const errors: Error[] = [];
    const [first, second] = [await continued(path), await continued(path)];
    recordSession(first, path);
    recordSession(second, path, { onError: (error) => errors.push(error) });
    first.append(user("first"));
    second.append(user("second"));
    first.append(user("third"));
    expect(errors).toMatchObject([{ message: expect.stringContaining("changed by another program") }]);
    expect((await loadSession(path)).messages).toEqual([user("one"), user("first"), user("third")]);
  });
});

describe("writes that fail", () => {
  test("writes what could not be written with the next change", async () => {
    const directory = join(temporaryDirectory(), "later");
    const path = join(directory, "session.jsonl");
    const errors: Error[] = [];
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path, { onError: (error) => errors.push(error) });
    writeFileSync(directory, "a file where the directory must be");
    conversation.append(user("one"));
    expect(errors).toHaveLength(1);
    await expect(recorder.flush()).rejects.toThrow();
    execFileSync("rm", [directory]);
    mkdirSync(directory);
    conversation.append(user("two"));
    await recorder.flush();
    expect(errors).toHaveLength(1);
    expect((await loadSession(path)).messages).toEqual([user("one"), user("two")]);
  });

  test("writes before whole() what could not be written, and closes its file at the end", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path, { onError: () => undefined });
    const [opened, closed] = [vi.spyOn(nodeFs, "openSync"), vi.spyOn(nodeFs, "closeSync")];
    onTestFinished(() => void vi.restoreAllMocks());
    vi.spyOn(nodeFs, "writeSync").mockImplementationOnce(() => {
      throw new Error("ENOSPC: no space left on device");
    });
    conversation.append(user("one"));
    expect((await conversation.whole()).sessionContext).toEqual([user("one")]);
    await recorder.close();
    const descriptors = opened.mock.results.map(({ value }) => value as number);
    expect(descriptors.length).toBeGreaterThan(0);
    expect(closed.mock.calls.map(([descriptor]) => descriptor).sort()).toEqual(descriptors.sort());
  });

  test("syncs lines that were written during a sync before flush resolves", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const sizes: number[] = [];
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path);
    const spy = vi.spyOn(nodeFs, "fdatasync").mockImplementation((_, done) => {
      sizes.push(statSync(path).size);
      setImmediate(() => {
        // Lines that arrive while the disk works belong to the next sync.
        if (sizes.length < 3) conversation.append(user(`during sync ${sizes.length}`));
        done(null);
      });
    });
    onTestFinished(() => spy.mockRestore());
    conversation.append(user("first"));
    await recorder.flush();
    expect(sizes).toHaveLength(3);
    expect(sizes.at(-1)).toBe(statSync(path).size);
    expect((await loadSession(path)).messages).toHaveLength(3);
    await recorder.close();
  });

  test("syncs lines that were written during a sync without being asked", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const conversation = new Conversation();
    let syncs = 0;
    const spy = vi.spyOn(nodeFs, "fdatasync").mockImplementation((_, done) => {
      setImmediate(() => {
        if (++syncs === 1) conversation.append(user("during the sync"));
        done(null);
      });
    });
    onTestFinished(() => spy.mockRestore());
    const recorder = recordSession(conversation, path);
    conversation.append(user("first"));
    await vi.waitFor(() => expect(syncs).toBe(2), { timeout: 30_000 });
    await recorder.close();
  });

  test("rejects the flush if the sync of lines written during another sync fails", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const errors: Error[] = [];
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path, { onError: (error) => errors.push(error) });
    let syncs = 0;
    const spy = vi.spyOn(nodeFs, "fdatasync").mockImplementation((_, done) => {
      const isFirst = ++syncs === 1;
      setImmediate(() => {
        if (isFirst) conversation.append(user("during the sync"));
        done(isFirst ? null : Object.assign(new Error("EIO"), { code: "EIO" }));
      });
    });
    onTestFinished(() => spy.mockRestore());
    conversation.append(user("first"));
    await expect(recorder.flush()).rejects.toThrow("EIO");
    expect(errors).toHaveLength(1);
    await recorder.close();
  });

  test("reports a failure without onError as a warning of the process", async () => {
    const directory = join(temporaryDirectory(), "later");
    const conversation = new Conversation();
    recordSession(conversation, join(directory, "session.jsonl"));
    writeFileSync(directory, "");
    const warnings = await warningsDuring(async () => conversation.append(user("one")));
    expect(warnings).toMatchObject([{ code: expect.stringMatching(/EEXIST|ENOTDIR/) }]);
  });

  test("keeps every whole line of the file on a full disk, and the agent continues", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const child = fileURLToPath(new URL("../../test/recordingChild.mjs", import.meta.url));
    // The limit of 64 blocks makes writes fail half-way, as a full disk does.
    const script = 'trap "" XFSZ; ulimit -f 64; exec "$@"';
    const running = spawn("sh", ["-c", script, "sh", process.execPath, child, path, "full"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    running.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (/failed [\s\S]*answer done/.test(said)) running.kill("SIGKILL");
    });
    await once(running, "close");
    const complete = said.slice(0, said.indexOf("failed")).match(/(?<=answer )done .*/g) ?? [];
    expect(complete.length).toBeGreaterThan(0);
    const { messages } = await loadSession(path);
    expect(messages.map(({ content }) => content)).toEqual(expect.arrayContaining([...complete]));
  });
});

test("returns from whole() the messages that compaction replaced, also after two summaries and a shortened result", async () => {
  const path = join(temporaryDirectory(), "session.jsonl");
  const conversation = new Conversation({ systemPrompt: "Be brief." });
  const recorder = recordSession(conversation, path);
  expect((await conversation.whole()).sessionContext).toEqual([]);
  const summary = (text: string): ChatMessage => ({ role: "user", content: text, generated: true });
  conversation.append(user("first"));
  const answer: AssistantMessage = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", type: "function", function: { name: "t", arguments: "{}" } }],
  };
  const result: ToolMessage = { role: "tool", tool_call_id: "1", content: "a long result" };
  const round = conversation.openRound(answer);
  // The calls of this answer still run.
  expect((await conversation.whole()).sessionContext).toEqual([user("first")]);
  round.addResult(result, { outcome: "ok", durationMs: 5 });
  round.close([result]);
  conversation.replace(2, 1, [{ ...result, content: "a …" }]);
  conversation.append(user("second"));
  conversation.replace(1, 3, [summary("one")]);
  conversation.append(user("third"));
  conversation.replace(1, 2, [summary("two")]);
  expect(conversation.sessionContext).toEqual([user("first"), summary("two")]);

  const all = [user("first"), answer, result, user("second"), summary("one"), user("third"), summary("two")];
  const whole = await conversation.whole();
  expect(whole.sessionContext).toEqual(all);
  const shown = whole.sessionContext[2] as ToolMessage;
  expect(whole.detailsOf(shown)).toMatchObject({ outcome: "ok" });
  // What was removed and not compacted is not part of the history.
  conversation.replace(1, 1, []);
  expect((await conversation.whole()).sessionContext).toEqual([user("first")]);
  await recorder.close();
  expect(await conversation.whole()).toBe(conversation);
});
