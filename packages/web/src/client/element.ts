import type { Content, DiffHunk, FileDiff, QuestionField, ResultView } from "@agent/core";
import { spellOut } from "@agent/internal";
import type { ChatAction, PendingApproval, PendingQuestion } from "../events.js";
import {
  type Block,
  type CallBlock,
  type ChildBlocks,
  contentText,
  type ViewMessage,
} from "../state/chatState.js";
import { type ChatClient, type ChatClientOptions, type ChatClientState, createChatClient } from "./client.js";

/** The style of the element. Every pair of colours has a contrast of at least 4.5 in light and in dark mode. */
const STYLE = `
:host {
  color-scheme: light dark;
  --accent: var(--chat-accent, light-dark(#0b57d0, #a8c7fa));
  --on-accent: var(--chat-on-accent, light-dark(#fff, #062e6f));
  --background: var(--chat-background, light-dark(#fff, #16181d));
  --text: var(--chat-text, light-dark(#1b1c1f, #e8e9ec));
  --quiet: light-dark(#54585f, #b3b8c1);
  --raised: light-dark(#f1f3f6, #23262d);
  --line: light-dark(#c9cdd4, #464b55);
  --bad: light-dark(#b3261e, #f5a9a3);
  --good: light-dark(#146c2e, #86d69b);
  display: flex;
  flex-direction: column;
  gap: 0.5rem;
  box-sizing: border-box;
  height: 100%;
  min-height: 16rem;
  padding: 0.75rem;
  background: var(--background);
  color: var(--text);
  font: 1rem/1.5 var(--chat-font, system-ui, sans-serif);
}
:host([hidden]), [hidden] { display: none !important; }
*, ::before { box-sizing: border-box; }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; }
article { display: flex; flex-direction: column; gap: 0.5rem; margin: 0 auto 1rem; max-width: 48rem; }
.user { align-items: flex-end; }
.assistant { align-items: flex-start; }
.bubble { background: var(--raised); border-radius: 1rem; padding: 0.5rem 1rem; max-width: 85%; white-space: pre-wrap; overflow-wrap: anywhere; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 100%; }
.quiet { color: var(--quiet); }
.error { color: var(--bad); }
.call { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.5rem 0.75rem; width: 100%; }
.call.error { color: inherit; border-color: var(--bad); }
.call .call { margin-top: 0.5rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
pre { background: var(--raised); border-radius: 0.5rem; font: 0.85rem/1.45 ui-monospace, monospace; margin: 0.5rem 0; max-height: 20rem; overflow: auto; padding: 0.5rem 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: 0.5rem 0; }
.added { color: var(--good); }
.removed { color: var(--bad); }
table { border-collapse: collapse; display: block; max-width: 100%; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: 0.25rem 0.5rem; text-align: left; }
p { margin: 0; }
#notice { margin: 0 auto; max-width: 48rem; min-height: 1.5rem; width: 100%; }
form { display: flex; gap: 0.5rem; align-items: flex-end; margin: 0 auto; max-width: 48rem; width: 100%; }
textarea { flex: 1; min-width: 0; background: var(--background); border: 1px solid var(--quiet); border-radius: 0.75rem; color: inherit; font: inherit; padding: 0.5rem 0.75rem; resize: vertical; }
button { background: var(--raised); border: 1px solid var(--line); border-radius: 0.75rem; color: inherit; cursor: pointer; font: inherit; min-height: 2.75rem; padding: 0.25rem 1rem; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.small { background: none; border: 0; color: var(--quiet); font-size: 0.85rem; min-height: 1.75rem; padding: 0 0.5rem; text-decoration: underline; }
.log:not([data-status="idle"]) .small { display: none; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; }
.question { margin-top: 0.5rem; }
.asked { align-items: stretch; border: 1px solid var(--accent); border-radius: 0.5rem; flex-direction: column; padding: 0.5rem 0.75rem; }
.asked label { display: flex; flex-direction: column; gap: 0.25rem; }
.asked label.check { align-items: baseline; flex-direction: row; }
input:not([type=checkbox]), select { background: var(--background); border: 1px solid var(--quiet); border-radius: 0.75rem; color: inherit; font: inherit; min-height: 2.75rem; padding: 0.25rem 0.75rem; width: 100%; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 30rem) { form { flex-direction: column; align-items: stretch; } form[part] .buttons { justify-content: flex-end; } }
`;

// On a server there is no `HTMLElement`: a page that is rendered there may import this file. Declared so that a project
// without browser types can compile the declarations.
type ElementBase = typeof globalThis extends { HTMLElement: infer Base } ? Base : new () => object;
const Base: ElementBase = (globalThis.HTMLElement ?? class {}) as ElementBase;

/**
 * A whole chat as an element: `<agent-chat url="/api/chat"></agent-chat>`. Attributes: `url`, `label` (its name for
 * screen readers) and `placeholder`. For a bearer token set its property `headers`, before or after it is in the page.
 * Its colours and fonts are CSS variables: `--chat-accent`, `--chat-background`, `--chat-text`, `--chat-font`.
 *
 * @example
 * ```ts
 * import { AgentChat } from "@agent/web/element";
 *
 * const chat = new AgentChat();
 * chat.setAttribute("url", "/api/chat");
 * chat.headers = () => ({ authorization: `Bearer ${localStorage.getItem("token")}` });
 * document.body.append(chat);
 * ```
 */
export class AgentChat extends Base {
  static readonly observedAttributes = ["url", "label", "placeholder"];

  readonly #parts: Parts | undefined;
  /** The rendered messages by id: only changes are rendered again. */
  readonly #drawn = new Map<string, { readonly from: unknown; readonly node: HTMLElement }>();
  #headers: ChatClientOptions["headers"];
  #credentials: ChatClientOptions["credentials"];
  /** Whether it is in the page and has read earlier properties: from then on each change reconnects. */
  #isReady = false;
  #client: ChatClient | undefined;
  #leave: (() => void) | undefined;
  #editing: string | undefined;
  /** What the server lets this client do; `undefined` for everything. */
  #actions: ChatClientState["actions"];

  constructor() {
    super();
    if (typeof this.attachShadow !== "function") return;
    this.#parts = makeParts(this.attachShadow({ mode: "open", delegatesFocus: true }));
    const { form, input, stop, cancel } = this.#parts;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
    input.addEventListener("keydown", (event) => {
      // While an input method composes a character, Enter chooses it.
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        void this.#send();
      }
      if (event.key === "Escape" && this.#editing !== undefined) this.#edit(undefined);
    });
    stop.addEventListener("click", () => void this.#client?.stop());
    cancel.addEventListener("click", () => this.#edit(undefined));
  }

  /** Headers of every request, or a function that returns them. */
  get headers(): ChatClientOptions["headers"] {
    return this.#headers;
  }

  set headers(headers: ChatClientOptions["headers"]) {
    this.#headers = headers;
    this.#connect();
  }

  /** Whether cookies are sent to another origin. Default `same-origin`. */
  get credentials(): ChatClientOptions["credentials"] {
    return this.#credentials;
  }

  set credentials(credentials: ChatClientOptions["credentials"]) {
    this.#credentials = credentials;
    this.#connect();
  }

  connectedCallback(): void {
    // A page may have set these before this file was loaded, on an element without accessors.
    for (const name of ["headers", "credentials"] as const) {
      if (!Object.hasOwn(this, name)) continue;
      const given = Reflect.get(this, name);
      Reflect.deleteProperty(this, name);
      Reflect.set(this, name, given);
    }
    this.#isReady = true;
    this.#connect();
  }

  disconnectedCallback(): void {
    this.#isReady = false;
    this.#leave?.();
    this.#leave = undefined;
  }

  attributeChangedCallback(name: string): void {
    if (this.#parts) {
      this.#parts.log.setAttribute("aria-label", this.getAttribute("label") ?? "Conversation");
      this.#parts.input.placeholder = this.getAttribute("placeholder") ?? "";
    }
    if (name === "url") this.#connect();
  }

  #connect(): void {
    if (!this.#isReady) return;
    this.#leave?.();
    const url = this.getAttribute("url");
    if (url === null || !this.#parts) return;
    const [headers, credentials] = [this.#headers, this.#credentials];
    const client = createChatClient({
      url,
      ...(headers !== undefined && { headers }),
      ...(credentials !== undefined && { credentials }),
    });
    this.#client = client;
    this.#leave = client.subscribe(() => this.#draw(client.getState()));
    this.#draw(client.getState());
  }

  async #send(): Promise<void> {
    const { input } = this.#parts ?? {};
    if (!input || input.value.trim() === "") return;
    const [text, replaces] = [input.value, this.#editing];
    this.#edit(undefined);
    input.value = "";
    const isAccepted = await this.#client?.send(text, replaces === undefined ? {} : { replaces });
    // A refused message is restored, unless the user is already writing something else.
    if (isAccepted || input.value !== "" || this.#editing !== undefined) return;
    if (replaces === undefined) input.value = text;
    else this.#edit({ id: replaces, content: text });
  }

  /** Puts a message into the field for editing; `undefined` ends editing. */
  #edit(message: { readonly id: string; readonly content: Content } | undefined): void {
    const { input, cancel } = this.#parts ?? {};
    if (!input || !cancel) return;
    if (message || this.#editing !== undefined) input.value = message ? contentText(message.content) : "";
    this.#editing = message?.id;
    cancel.hidden = message === undefined;
    input.focus();
  }

  #draw(state: ChatClientState): void {
    if (!this.#parts) return;
    const { log, notice, form, stop } = this.#parts;
    if (String(state.actions) !== String(this.#actions)) this.#drawn.clear();
    this.#actions = state.actions;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    const last = state.messages.at(-1);
    const blocks = last?.role === "assistant" ? last.blocks : [];
    const others = state.approvals.filter((one) => blockOf(blocks, one) === -1);
    const questions = this.#may("answer") ? state.questions : [];
    const nodes = [
      ...state.messages.map((message, index) => this.#node(message, state, index)),
      ...others.map((one) => this.#asked(one)),
      ...questions.map((one) => this.#form(one)),
    ];
    const shown = new Set([...state.messages, ...others, ...questions].map(({ id }) => id));
    for (const id of [...this.#drawn.keys()]) if (!shown.has(id)) this.#drawn.delete(id);
    // Moving a node would take the focus from a button in it.
    for (const [index, node] of nodes.entries()) {
      if (log.children[index] !== node) log.insertBefore(node, log.children[index] ?? null);
    }
    while (log.children.length > nodes.length) log.lastElementChild?.remove();
    const mayChange = !state.isFixed && this.#may("send") && this.#may("regenerate");
    log.dataset.status = mayChange ? state.status : "fixed";
    form.hidden = !this.#may("send");
    stop.hidden = state.status === "idle" || !this.#may("stop");
    const said = noticeOf(state);
    if (notice.textContent !== said.text) notice.textContent = said.text;
    notice.className = said.isError ? "error" : "";
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  }

  #may(action: ChatAction["type"]): boolean {
    return this.#actions?.includes(action) ?? true;
  }

  #node(message: ViewMessage, state: ChatClientState, index: number): HTMLElement {
    const isLast = index === state.messages.length - 1;
    const blocks = isLast && message.role === "assistant" ? message.blocks : [];
    const questions = state.approvals.filter((one) => blockOf(blocks, one) !== -1);
    const from = questions.map(({ id }) => id).join();
    const known = this.#drawn.get(message.id);
    const key = [message, from] as const;
    if (known && Array.isArray(known.from) && known.from[0] === message && known.from[1] === from) {
      return known.node;
    }
    const node =
      message.role === "user"
        ? this.#user(message)
        : this.#answer(message, questions, state.messages[index - 1]);
    // What the user has opened stays open.
    const opened = [...(known?.node.querySelectorAll("details") ?? [])];
    for (const [at, details] of [...node.querySelectorAll("details")].entries()) {
      if (opened[at]?.open) details.open = true;
    }
    this.#drawn.set(message.id, { from: key, node });
    if (known) known.node.replaceWith(node);
    return node;
  }

  /** A question of a child agent or a nested call, which is not a block of the answer. */
  #asked(one: PendingApproval): HTMLElement {
    const known = this.#drawn.get(one.id);
    if (known) return known.node;
    const { id, name, args, description, label, directory } = one;
    const call = {
      type: "call",
      id,
      name,
      args,
      title: description.title,
      state: "waiting",
      output: "",
    } as const;
    const agent = label === undefined || directory === undefined ? label : `${label} in ${directory}`;
    const drawn = drawCall(call, [this.#question(one)], { agent });
    const node = h("article", { class: "assistant", "aria-label": label ?? "Assistant" }, drawn);
    this.#drawn.set(id, { from: one, node });
    return node;
  }

  /** A question of a tool to the user. It is not rendered again while it waits, so that typed values are kept. */
  #form(question: PendingQuestion): HTMLElement {
    const { id, source, message, fields, url, immediate } = question;
    const known = this.#drawn.get(id);
    if (known) return known.node;
    const form = h("form", { class: "asked" });
    const answer = (values: Readonly<Record<string, unknown>> | undefined): void =>
      void this.#client?.answer(id, values ? { answer: "yes", values } : { answer: "no" });
    const button = (label: string, click: () => void, kind = ""): HTMLElement => {
      const made = h("button", { type: "button", class: kind }, label);
      made.addEventListener("click", click);
      return made;
    };
    const [first] = fields;
    // The only field is a choice without confirmation: each choice is a button.
    const choices =
      immediate && fields.length === 1 && first?.type === "choice" ? (first.options ?? []) : undefined;
    const inputs =
      choices && !first?.other ? [] : fields.map((field) => makeInput(field, choices !== undefined));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer(Object.fromEntries(inputs.flatMap(({ name, read }) => [[name, read()]])));
    });
    form.append(
      h("p", {}, h("strong", {}, source), " asks:"),
      h("div", { class: "text" }, message),
      ...(url === undefined ? [] : [drawLink(url)]),
      ...(choices && first
        ? [
            h(
              "div",
              { class: "buttons" },
              ...choices.map(({ value, title }) =>
                button(title ?? value, () => answer({ [first.name]: value })),
              ),
            ),
          ]
        : []),
      ...inputs.map(({ label }) => label),
      h(
        "div",
        { class: "buttons" },
        ...(choices && inputs.length === 0
          ? []
          : [h("button", { type: "submit", class: "primary" }, fields.length > 0 ? "Send answer" : "Yes")]),
        button(fields.length > 0 ? "Do not answer" : "No", () => answer(undefined)),
      ),
    );
    const node = h("article", { class: "assistant", "aria-label": `Question of ${source}` }, form);
    this.#drawn.set(id, { from: question, node });
    return node;
  }

  #user(message: Extract<ViewMessage, { role: "user" }>): HTMLElement {
    if (message.generated) {
      const { from = "Note", content } = message;
      const text = h("div", { class: "text quiet" }, contentText(content));
      return h(
        "article",
        { "aria-label": from },
        h("details", {}, h("summary", { class: "quiet" }, from), text),
      );
    }
    const edit = h("button", { type: "button", class: "small" }, "Edit");
    edit.addEventListener("click", () => this.#edit(message));
    const bubble = h("div", { class: "bubble" }, contentText(message.content));
    return h("article", { class: "user", "aria-label": "You" }, bubble, edit);
  }

  #answer(
    { blocks, stopped }: Extract<ViewMessage, { role: "assistant" }>,
    questions: readonly PendingApproval[],
    answered: ViewMessage | undefined,
  ): HTMLElement {
    const parts = drawBlocks(blocks, (index) =>
      questions.filter((one) => blockOf(blocks, one) === index).map((one) => this.#question(one)),
    );
    if (stopped) parts.push(h("p", { class: "quiet" }, "Stopped."));
    if (answered?.role === "user" && !answered.generated) {
      const again = h("button", { type: "button", class: "small" }, "Try again");
      again.addEventListener("click", () => void this.#client?.regenerate(answered.id));
      parts.push(again);
    }
    return h("article", { class: "assistant", "aria-label": "Assistant" }, ...parts);
  }

  #question({ id, name, description, preview }: PendingApproval): HTMLElement {
    const button = (label: string, decision: Parameters<ChatClient["decide"]>[1], kind = "") => {
      const made = h("button", { type: "button", class: kind }, label);
      made.addEventListener("click", () => void this.#client?.decide(id, decision));
      return made;
    };
    const rules = alwaysRules({ name, description });
    const decisions = h(
      "p",
      { class: "buttons" },
      button("Allow", "allow", "primary"),
      ...rules.map((rule) => button(`Always allow ${rule}`, { always: rule })),
      button(`Always allow ${spellOut(name)}`, "always"),
      button("Deny", { deny: "The user said no." }),
    );
    return h(
      "div",
      { class: "question", role: "group", "aria-label": `Permission for ${name}` },
      ...description.needs.map(({ kind, path, reason }) =>
        h("p", { class: "error" }, spellOut(`It ${kind}s ${path}: ${reason}.`)),
      ),
      ...(description.caution === undefined
        ? []
        : [h("p", { class: "error" }, spellOut(description.caution))]),
      ...(preview ? preview.changes.map(drawDiff) : []),
      this.#may("decide") ? decisions : h("p", { class: "quiet" }, "Another user decides about this call."),
    );
  }
}

/**
 * The index of the block that a question belongs to: the newest call with its id. -1 for a question of a child agent or
 * a nested call.
 */
function blockOf(blocks: readonly Block[], { callId, label }: PendingApproval): number {
  if (label !== undefined) return -1;
  return blocks.findLastIndex((block) => block.type === "call" && block.id === callId);
}

/** The rules that the tool suggests for "always". Empty for a call that needs access beyond the rules. */
function alwaysRules({ name, description }: Pick<PendingApproval, "name" | "description">): string[] {
  if (description.needs.length > 0) return [];
  return (description.always ?? []).map(({ pattern }) => `${name}(${pattern})`);
}

interface Parts {
  readonly log: HTMLElement;
  readonly notice: HTMLElement;
  readonly form: HTMLElement;
  readonly input: HTMLTextAreaElement;
  readonly stop: HTMLButtonElement;
  readonly cancel: HTMLButtonElement;
}

function makeParts(root: ShadowRoot): Parts {
  const log = h("div", {
    class: "log",
    part: "log",
    role: "log",
    tabindex: "0",
    "aria-label": "Conversation",
  });
  const notice = h("p", { id: "notice", role: "status", "aria-live": "polite" });
  const input = h("textarea", { id: "input", rows: "2", part: "input" });
  const stop = h("button", { type: "button", hidden: "" }, "Stop");
  const cancel = h("button", { type: "button", hidden: "" }, "Cancel edit");
  const form = h(
    "form",
    { part: "form" },
    h("label", { for: "input", class: "hidden" }, "Message"),
    input,
    h("div", { class: "buttons" }, cancel, stop, h("button", { type: "submit", class: "primary" }, "Send")),
  );
  root.append(h("style", {}, STYLE), log, notice, form);
  return { log, notice, form, input, stop, cancel };
}

/** A field of a question with its label, and a function that reads its value. */
function makeInput(
  { name, type, title = name, description, required, options = [], default: preset, other }: QuestionField,
  isOther: boolean,
): { readonly name: string; readonly label: HTMLElement; readonly read: () => unknown } {
  const text = isOther ? "Another answer" : required ? title : `${title} (optional)`;
  const known = other && !isOther ? options.map(({ title: shown, value }) => shown ?? value).join(", ") : "";
  const note = [description ?? "", known]
    .filter((part) => part !== "")
    .map((part) => h("span", { class: "quiet" }, part));
  if (type === "boolean") {
    const input = h("input", { type: "checkbox" });
    input.checked = preset === true;
    return { name, label: h("label", { class: "check" }, input, text, ...note), read: () => input.checked };
  }
  if (type === "choices" || (type === "choice" && !other)) {
    const several = type === "choices";
    const empty = several || required ? [] : [h("option", { value: "" }, "")];
    const select = h(
      "select",
      several ? { multiple: "" } : {},
      ...empty,
      ...options.map(({ value, title: shown }) => h("option", { value }, shown ?? value)),
    );
    const chosen = Array.isArray(preset) ? preset : [preset];
    for (const option of select.options) if (chosen.includes(option.value)) option.selected = true;
    const read = () => {
      const values = [...select.selectedOptions].map(({ value }) => value);
      return several ? values : values[0];
    };
    return { name, label: h("label", {}, text, ...note, select), read };
  }
  const isNumber = type === "number" || type === "integer";
  const input = h("input", isNumber ? { type: "number", step: type === "integer" ? "1" : "any" } : {});
  input.required = required;
  if (preset !== undefined && preset !== null) input.value = String(preset);
  const read = () => (isNumber && input.value !== "" ? input.valueAsNumber : input.value);
  return { name, label: h("label", {}, text, ...note, input), read };
}

/** A URL in full, as a link only if a browser opens it as a page. */
function drawLink(url: string): HTMLElement {
  const isPage = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return h(
    "p",
    { class: "text" },
    isPage ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, url) : url,
  );
}

function noticeOf({ error, connection, retry, status, approvals, questions, actions }: ChatClientState): {
  text: string;
  isError: boolean;
} {
  if (error !== undefined) return { text: error, isError: true };
  if (connection === "lost") return { text: "The connection was lost. Connecting again…", isError: false };
  if (retry) return { text: `The model did not answer (${retry.reason}). Trying again…`, isError: false };
  if (status === "stopping") return { text: "Stopping…", isError: false };
  if (approvals.length + questions.length > 0) {
    const isOther = actions && !actions.includes("decide");
    return { text: isOther ? "Waiting for a decision." : "Waiting for your answer.", isError: false };
  }
  return { text: status === "working" ? "Working…" : "", isError: false };
}

function drawText({ type, text }: Exclude<Block, CallBlock>): HTMLElement {
  if (type === "reasoning")
    return h("details", {}, h("summary", {}, "Thoughts"), h("div", { class: "text quiet" }, text));
  // Fenced code is styled; everything else is shown verbatim.
  const parts = text
    .split(/^```[^\n]*\n?/m)
    .map((part, index) => (index % 2 === 1 ? h("pre", { tabindex: "0" }, h("code", {}, part)) : part));
  return h("div", { class: type === "notice" ? "text quiet" : "text" }, ...parts);
}

/** Blocks in their order. The calls of a script are inside the script's own call. */
function drawBlocks(
  blocks: readonly Block[],
  questionsOf: (index: number) => readonly HTMLElement[] = () => [],
): HTMLElement[] {
  const places = new Map<string, number>();
  const outer: number[] = [];
  const inner = new Map<number, number[]>();
  for (const [index, block] of blocks.entries()) {
    const place = block.type === "call" && block.parent !== undefined ? places.get(block.parent) : undefined;
    if (place === undefined) outer.push(index);
    else inner.set(place, [...(inner.get(place) ?? []), index]);
    // Ids are used again in later answers.
    if (block.type === "call") places.set(block.id, index);
  }
  const draw = (index: number): HTMLElement[] => {
    const block = blocks[index];
    if (!block) return [];
    if (block.type !== "call") return [drawText(block)];
    const nested = (inner.get(index) ?? []).flatMap(draw);
    return [drawCall(block, questionsOf(index), { nested })];
  };
  return outer.flatMap(draw);
}

/**
 * A call with the questions about it. `agent` is the child agent that makes it, if one does; `nested` are the calls that
 * it makes.
 */
function drawCall(
  call: CallBlock,
  questions: readonly HTMLElement[],
  {
    agent,
    nested = [],
  }: { readonly agent?: string | undefined; readonly nested?: readonly HTMLElement[] } = {},
): HTMLElement {
  const { name, title, args, state, draft, output, text, view, progress, summary } = call;
  const facts = [state, progress?.message, summary].filter(Boolean).join(" · ");
  // The user decides by this text, so it hides nothing.
  const json = spellOut(draft ?? JSON.stringify(args, undefined, 2));
  const result = view ? drawView(view) : h("pre", { tabindex: "0" }, output || text || "");
  const details = h(
    "details",
    questions.length > 0 ? { open: "" } : {},
    h(
      "summary",
      {},
      agent === undefined ? "" : `${agent}: `,
      h("strong", {}, spellOut(name)),
      ` ${spellOut(title ?? "")} `,
      h("span", { class: "quiet" }, facts),
    ),
    h("pre", { tabindex: "0", "aria-label": "Arguments" }, json),
    ...(output || text || view ? [result] : []),
  );
  const isRunning = ["writing", "requested", "waiting", "running"].includes(state);
  const children = (call.children ?? []).map((one, index) => drawChild(one, index, isRunning));
  const label = `${name}: ${state}`;
  return h(
    "div",
    { class: `call ${state}`, role: "group", "aria-label": label },
    details,
    ...nested,
    ...children,
    ...questions,
  );
}

/** A child agent under its call: its current work, duration and tokens; expanded, everything it did. */
function drawChild(
  { label, blocks, tokens, elapsedMs, isDone }: ChildBlocks,
  index: number,
  isRunning: boolean,
): HTMLElement {
  const last = blocks.findLast((block) => block.type === "call");
  const current = last && last.state !== "ok" ? `${last.name} ${last.title ?? ""}`.trim() : "thinking";
  const facts = [
    isDone ? "done" : isRunning ? current : "stopped",
    elapsedMs === undefined ? "" : duration(elapsedMs),
    tokens === undefined ? "" : `${tokens} tokens`,
  ];
  return h(
    "details",
    { class: "child" },
    h(
      "summary",
      {},
      h("strong", {}, label ?? `agent ${index + 1}`),
      ` ${facts.filter((fact) => fact !== "").join(" · ")}`,
    ),
    ...drawBlocks(blocks),
  );
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function drawView(view: ResultView): HTMLElement {
  if (view.type === "diff") return h("div", {}, ...view.files.map(drawDiff));
  const more = view.more ? [h("p", { class: "quiet" }, `and ${view.more} more`)] : [];
  const note = noteOf(view);
  return h("div", {}, drawContent(view), ...more, ...(note === "" ? [] : [h("p", { class: "quiet" }, note)]));
}

/** Where the text is from, and how the command ended. */
function noteOf(view: ResultView): string {
  if (view.type === "code") {
    const { path = "", startLine } = view;
    return startLine === undefined ? path : `${path}:${startLine}`;
  }
  if (view.type !== "output") return "";
  const { exitCode, files = [] } = view;
  const end = exitCode ? [`exit code ${exitCode}`] : [];
  return [...end, ...files.map(({ label, path }) => `${label}: ${path}`)].join(" · ");
}

function drawContent(view: Exclude<ResultView, { readonly type: "diff" }>): HTMLElement {
  switch (view.type) {
    case "table":
      return h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...view.columns.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...view.rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))))),
      );
    case "list":
      return h(
        "ul",
        {},
        ...view.items.map(({ text, path, line }) =>
          h(
            "li",
            {},
            path === undefined || path === text
              ? text
              : `${path}${line === undefined ? "" : `:${line}`} ${text}`,
          ),
        ),
      );
    case "fields":
      return h("dl", {}, ...view.fields.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    default:
      return h("pre", { tabindex: "0" }, view.text);
  }
}

function drawDiff({ path, oldPath, change, added, removed, hunks, more }: FileDiff): HTMLElement {
  const lines = hunks.flatMap((hunk) => [...hunk.lines, ...newlineNote(hunk)]);
  const name = spellOut(oldPath === undefined ? path : `${oldPath} → ${path}`);
  return h(
    "figure",
    {},
    h("figcaption", {}, `${name} ${change}, +${added} −${removed}`),
    h(
      "pre",
      { tabindex: "0" },
      ...lines.map((line) =>
        h(
          "span",
          { class: line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "" },
          `${spellOut(line)}\n`,
        ),
      ),
    ),
    ...(more ? [h("p", { class: "quiet" }, `${more} more lines are not shown`)] : []),
  );
}

/** Explains two last lines that look the same: only one of them ends with a newline. */
function newlineNote({ lines, noFinalNewline: open }: DiffHunk): string[] {
  if (open !== "old" && open !== "new") return [];
  const [removed, added] = ["-", "+"].map((mark) =>
    lines.findLast((line) => line.startsWith(mark))?.slice(1),
  );
  return removed === added
    ? [`(the newline at the end of the file is ${open === "old" ? "added" : "removed"})`]
    : [];
}

/** An element with attributes and children. Text is never read as HTML. */
function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key !== "class" || value !== "") element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

if (globalThis.customElements && !customElements.get("agent-chat")) {
  customElements.define("agent-chat", AgentChat);
}
