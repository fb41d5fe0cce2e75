import { escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine, withTimeout } from "@agent/internal";
import { askPermit, askUserQuestion } from "../approval/userQuestion.js";
import { eraseFirstPrompt } from "../screen/firstPrompt.js";
import { runningJobs, shortDirectory } from "../screen/statusRow.js";
import { isLiveTerminal, terminalStyle } from "../screen/terminalKind.js";
import { divertOutput, ownStandardOutput } from "../system/output.js";
import type { Style } from "../text/style.js";
import { ChatController } from "./controller.js";
import { questionQueue } from "./queues.js";
import { TerminalChat } from "./terminalChat.js";
import type { Chat, ChatOptions, ChatPlaces, ReadyChat } from "./types.js";
import type { ChatView } from "./view.js";

// How long a chat that was closed during loading waits for the load: an agent that is still created is disposed of.
const LEAVING_MS = 1000;
const NOT_ASKED = "the user cannot be asked: the chat has not started, or the call was stopped.";
const WELCOME = "/help lists the commands.";

/** The output and input of the chat: a terminal or plain lines. */
interface ChatFront {
  readonly view: ChatView;
  open(controller: ChatController): void;
  /** Leaves the terminal to something else while `work` runs. */
  suspendDuring<T>(work: () => Promise<T>): Promise<T>;
  /** Called when the settings are known. */
  configure?(options: ChatOptions): void;
  close(): void;
}

/**
 * Creates the chat on this process's terminal. With `TERM=dumb` or without a terminal it prints plain lines without
 * escape codes; with `NO_COLOR` it is the same chat without colour.
 */
export function createChat(places: ChatPlaces): Chat {
  let ready: ReadyChat | undefined;
  let view: ChatView | undefined;
  let shown: ChatFront | undefined;
  let wake: Chat["wake"] = () => undefined;
  let asks = (): void => undefined;
  // Output of a config, a pack or Node itself must not mix with the rows that are drawn.
  const divert = (): (() => void) => divertOutput((lines) => view?.print(lines));
  let release = (): void => undefined;
  const left = new AbortController();
  const queue = questionQueue();
  const inTurn = <T>(ask: () => Promise<T>): Promise<T> =>
    queue(() => {
      asks();
      return ask();
    });
  return {
    ask: (request, always) =>
      inTurn(async () =>
        view && !request.signal.aborted ? await view.ask(request, always) : { deny: NOT_ASKED },
      ),
    question: (question) =>
      inTurn(async () =>
        view && !question.signal.aborted ? await askUserQuestion(question, view) : { answer: "dismissed" },
      ),
    askPermit: (request) =>
      inTurn(async () => (view && !request.signal.aborted ? await askPermit(request, view) : undefined)),
    aside: async (work) => {
      // A user who has quit is not asked anything.
      left.signal.throwIfAborted();
      if (!shown) return await work();
      release();
      try {
        return await shown.suspendDuring(work);
      } finally {
        if (shown) release = divert();
      }
    },
    wake: (notice) => wake(notice),
    pick: async (title, items) => await view?.pick(title, items),
    notice: (message) => {
      if (view) view.print(escapeInvisible(message).split("\n"));
      else process.stderr.write(`${escapeInvisible(message)}\n`);
    },
    run: async (load) => {
      const plain = isPlain();
      let farewell: readonly string[] = [];
      // Plain lines cannot be inserted above an existing prompt.
      const loadAll = () => Promise.all([load(left.signal), loadOthers()]);
      const all = plain ? await loadAll() : undefined;
      const front = plain
        ? await plainFront(places)
        : new TerminalChat(places, process.stdin, ownStandardOutput(), { ...terminalStyle() });
      view = front.view;
      const controller = new ChatController(front.view, places.mentions);
      wake = (notice) => controller.wake(notice);
      asks = () => controller.asks();
      const start = async ([loaded, { slashCommands, transcriptLines }]: Awaited<
        ReturnType<typeof loadAll>
      >): Promise<void> => {
        ready = loaded;
        const { agent, options } = loaded;
        front.configure?.(options);
        front.view.print([
          ...headingLines(options, front.view.style),
          ...(options.banner ?? []).flatMap((line) => escapeInvisible(line).split("\n")),
          WELCOME,
        ]);
        if (agent.conversation.sessionContext.length > 0) {
          // The recording can no longer be read: show what the model sees.
          const whole = await agent.conversation.whole().catch(() => agent.conversation);
          front.view.print(transcriptLines(whole, front.view.style));
        }
        controller.start(loaded, slashCommands);
      };
      let loading: Promise<ReadyChat | undefined> = Promise.resolve(all?.[0]);
      try {
        if (all) await start(all);
        eraseFirstPrompt();
        front.open(controller);
        shown = front;
        if (!plain) release = divert();
        if (!all) {
          loading = loadAll().then(async (loaded) => {
            if (!left.signal.aborted) await start(loaded);
            return loaded[0];
          });
        }
        // Ends when the user leaves or the agent fails to load.
        const code = await Promise.race([controller.finished, loading.then(() => controller.finished)]);
        farewell = ready ? leavingLines(ready) : [];
        return code;
      } finally {
        left.abort();
        shown = undefined;
        front.close();
        release();
        view = undefined;
        const late = loading.catch(() => undefined);
        await (ready ?? (await withTimeout(late, LEAVING_MS, () => undefined)))?.end?.();
        if (farewell.length > 0) process.stdout.write(`${farewell.join("\n")}\n`);
      }
    },
  };
}

/** `agent 1.2.0 · ~/project · main`: where the chat is. */
function headingLines({ program, branch }: ChatOptions, style: Style): string[] {
  if (program === undefined) return [];
  const facts = [shortDirectory(process.cwd()), branch?.() ?? ""].filter((fact) => fact !== "");
  return [
    [style.bold(escapeToLine(program)), ...facts.map((fact) => style.dim(escapeToLine(fact)))].join(" · "),
  ];
}

/** The parts of the chat that are needed only after its first prompt. */
async function loadOthers() {
  const [{ slashCommands }, { transcriptLines }] = await Promise.all([
    import("../commands/slashCommands.js"),
    import("../display/transcript.js"),
  ]);
  return { slashCommands, transcriptLines };
}

async function plainFront({ historyFile }: ChatPlaces): Promise<ChatFront> {
  const { PlainChat } = await import("./plainChat.js");
  return new PlainChat(historyFile, process.stdin, ownStandardOutput());
}

/** What ends together with the chat, and how to resume. */
function leavingLines({ agent, options }: ReadyChat): string[] {
  const jobs = runningJobs(agent.registry.services.jobs);
  const ending = jobs.map(
    ({ id, command }) => `Stopping ${escapeToLine(id)}: ${escapeToLine(command.slice(0, 200))}`,
  );
  return [...ending, ...(options.farewell?.() ?? [])];
}

function isPlain(): boolean {
  return !process.stdin.isTTY || !isLiveTerminal();
}
