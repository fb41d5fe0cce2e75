import type { Content } from "@agent/core";
import type { Block, CallBlock } from "@agent/web";
import { useChat } from "@agent/web/react";
import { type FormEvent, useEffect, useState } from "react";
import { Call, type Question } from "./call.tsx";

/** The whole page: the conversation, and the input field. */
export function Chat() {
  const { messages, approvals, status, error, connection, send, decide, stop } = useChat({ url: "/chat" });
  useEffect(() => {
    window.scrollTo(0, document.body.scrollHeight);
  }, [messages]);
  const questionAbout = (call: CallBlock): Question | undefined => {
    const request = approvals.find(({ callId }) => callId === call.id);
    return request && { request, decide: (decision) => void decide(request.id, decision) };
  };
  return (
    <>
      {messages.map((message) =>
        message.role === "user" ? (
          <div key={message.id} className="user">
            {textOf(message.content)}
          </div>
        ) : (
          <article key={message.id} className="assistant">
            {message.blocks.map((block, position) => (
              <BlockView key={position} block={block} questionAbout={questionAbout} />
            ))}
            {message.stopped && <p className="stopped">Stopped.</p>}
          </article>
        ),
      )}
      {error && <p role="alert">{error}</p>}
      {connection === "lost" && <p role="status">The connection was lost. Connecting again…</p>}
      <Composer isWorking={status !== "idle"} onSend={send} onStop={stop} />
    </>
  );
}

interface BlockProps {
  readonly block: Block;
  /** The question about a call; `undefined` if the call does not wait for a decision. */
  readonly questionAbout: (call: CallBlock) => Question | undefined;
}

function BlockView({ block, questionAbout }: BlockProps) {
  if (block.type === "call") return <Call call={block} question={questionAbout(block)} />;
  return <div className={block.type === "text" ? "text" : `text ${block.type}`}>{block.text}</div>;
}

interface ComposerProps {
  readonly isWorking: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

function Composer({ isWorking, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState("");
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (text.trim() === "") return;
    onSend(text);
    setText("");
  };
  return (
    <form onSubmit={submit}>
      <textarea
        aria-label="Message"
        placeholder={isWorking ? "Add to what it is doing…" : "Ask for something…"}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            submit();
          }
        }}
      />
      {isWorking && (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      )}
      <button type="submit">Send</button>
    </form>
  );
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.name ?? part.mediaType}]`))
    .join("\n");
}
