import type { ProviderDialect, SampleAnswer } from "@agent/testing";

/** The wire format of each API, for the test servers. */

const NO_USAGE = { input: 0, output: 0, cached: 0 };

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const named = (data: { type: string }): string => `event: ${data.type}\n${event(data)}`;
const words = (text: string): string[] => text.match(/\S+\s*/g) ?? [];

export const chat: ProviderDialect = {
  whole: (answer) => ({
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: chatMessage(answer), finish_reason: chatFinish(answer) }],
    usage: chatUsage(answer),
  }),
  events: (answer) => {
    const { reasoning, text = "", signature, calls = [] } = answer;
    const chunk = (delta: object, finish: string | null = null): string =>
      event({
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return [
      chunk({ role: "assistant", content: "" }),
      ...(reasoning === undefined ? [] : words(reasoning).map((word) => chunk({ reasoning_content: word }))),
      ...(signature === undefined
        ? []
        : [chunk({ reasoning_details: [{ type: "reasoning.encrypted", data: signature, index: 0 }] })]),
      ...words(text).map((word) => chunk({ content: word })),
      ...calls.flatMap(({ id, name, args }, index) => [
        chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        ...(JSON.stringify(args).match(/.{1,8}/gsu) ?? []).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]),
      chunk({}, chatFinish(answer)),
      event({
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [],
        usage: chatUsage(answer),
      }),
      "data: [DONE]\n\n",
    ];
  },
  error: (message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
};

function chatMessage({ text, reasoning, signature, calls = [] }: SampleAnswer): object {
  return {
    role: "assistant",
    content: text ?? null,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(signature !== undefined && {
      reasoning_details: [{ type: "reasoning.encrypted", data: signature, index: 0 }],
    }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, args }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      })),
    }),
  };
}

function chatFinish({ finish, calls = [] }: SampleAnswer): string {
  return finish ?? (calls.length > 0 ? "tool_calls" : "stop");
}

function chatUsage({ usage = NO_USAGE }: SampleAnswer): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  };
}

export const responses: ProviderDialect = {
  whole: (answer) => responseObject(answer),
  events: (answer) => {
    const output = responseItems(answer);
    return [
      named({ type: "response.created", response: { id: "r1", status: "in_progress", output: [] } } as {
        type: string;
      }),
      ...output.flatMap((item, output_index) => responseItemEvents(item, output_index)),
      named({
        type: answer.finish === "length" ? "response.incomplete" : "response.completed",
        response: responseObject(answer),
      } as { type: string }),
    ];
  },
  error: chat.error,
};

type Item = Record<string, unknown> & { type: string };

function responseItems({ text, reasoning, signature, calls = [] }: SampleAnswer): Item[] {
  const reasons = reasoning !== undefined || signature !== undefined;
  return [
    ...(reasons
      ? [
          {
            type: "reasoning",
            id: "rs_1",
            summary: reasoning === undefined ? [] : [{ type: "summary_text", text: reasoning }],
            ...(signature !== undefined && { encrypted_content: signature }),
          },
        ]
      : []),
    ...(text === undefined
      ? []
      : [
          {
            type: "message",
            id: "msg_1",
            status: "completed",
            role: "assistant",
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ]),
    ...calls.map(({ id, name, args }) => ({
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(args),
      status: "completed",
    })),
  ];
}

function responseItemEvents(item: Item, output_index: number): string[] {
  const of = (type: string, more: object): string =>
    named({ type, output_index, ...more } as { type: string });
  const deltas = (type: string, text: string): string[] => words(text).map((delta) => of(type, { delta }));
  const summary = ((item.summary as { text: string }[] | undefined) ?? []).map(({ text }) => text).join("");
  const content = ((item.content as { text: string }[] | undefined) ?? []).map(({ text }) => text).join("");
  return [
    of("response.output_item.added", { item: { ...item, arguments: "", content: [], summary: [] } }),
    ...deltas("response.reasoning_summary_text.delta", summary),
    ...deltas("response.output_text.delta", content),
    ...(item.type === "function_call"
      ? deltas("response.function_call_arguments.delta", String(item.arguments))
      : []),
    of("response.output_item.done", { item }),
  ];
}

function responseObject(answer: SampleAnswer): object {
  const { usage = NO_USAGE, finish } = answer;
  return {
    id: "r1",
    object: "response",
    status: finish === "length" ? "incomplete" : "completed",
    incomplete_details: finish === "length" ? { reason: "max_output_tokens" } : null,
    error: null,
    output: responseItems(answer),
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

export const messages: ProviderDialect = {
  whole: (answer) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: messageBlocks(answer),
    stop_reason: messageStop(answer),
    stop_sequence: null,
    usage: messageUsage(answer),
  }),
  events: (answer) => [
    named({
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage: { ...messageUsage(answer), output_tokens: 1 },
      },
    } as { type: string }),
    named({ type: "ping" }),
    ...messageBlocks(answer).flatMap(messageBlockEvents),
    named({
      type: "message_delta",
      delta: { stop_reason: messageStop(answer), stop_sequence: null },
      usage: { output_tokens: (answer.usage ?? NO_USAGE).output },
    } as { type: string }),
    named({ type: "message_stop" }),
  ],
  error: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
};

function messageBlocks({ text, reasoning, signature, calls = [] }: SampleAnswer): Item[] {
  const thinks = reasoning !== undefined || signature !== undefined;
  return [
    ...(thinks ? [{ type: "thinking", thinking: reasoning ?? "", signature: signature ?? "" }] : []),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
  ];
}

function messageBlockEvents(block: Item, index: number): string[] {
  const empty = { text: { text: "" }, thinking: { thinking: "", signature: "" }, tool_use: { input: {} } };
  const delta = (more: object): string =>
    named({ type: "content_block_delta", index, delta: more } as { type: string });
  const pieces = {
    text: () => words(String(block.text)).map((text) => delta({ type: "text_delta", text })),
    thinking: () => [
      ...words(String(block.thinking)).map((thinking) => delta({ type: "thinking_delta", thinking })),
      delta({ type: "signature_delta", signature: block.signature }),
    ],
    tool_use: () =>
      (JSON.stringify(block.input).match(/.{1,8}/gsu) ?? []).map((partial_json) =>
        delta({ type: "input_json_delta", partial_json }),
      ),
  };
  const type = block.type as keyof typeof pieces;
  return [
    named({ type: "content_block_start", index, content_block: { ...block, ...empty[type] } } as {
      type: string;
    }),
    ...pieces[type](),
    named({ type: "content_block_stop", index } as { type: string }),
  ];
}

function messageStop({ finish, calls = [] }: SampleAnswer): string {
  if (finish === "length") return "max_tokens";
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function messageUsage({ usage = NO_USAGE }: SampleAnswer): object {
  return {
    input_tokens: usage.input - usage.cached,
    cache_read_input_tokens: usage.cached,
    cache_creation_input_tokens: 0,
    output_tokens: usage.output,
  };
}

export const generateContent: ProviderDialect = {
  whole: (answer) => contentChunk(contentParts(answer), answer, true),
  events: (answer) => {
    const parts = contentParts(answer).flatMap((part) =>
      typeof part.text === "string" && part.thoughtSignature === undefined
        ? words(part.text).map((text) => ({ ...part, text }))
        : [part],
    );
    return [
      ...parts.map((part) => event(contentChunk([part], answer, false))),
      event(contentChunk([{ text: "" }], answer, true)),
    ];
  },
  error: (message) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }),
  isStream: ({ url }) => url.includes(":streamGenerateContent"),
};

function contentParts({ text, reasoning, signature, calls = [] }: SampleAnswer): Record<string, unknown>[] {
  const sign = signature === undefined ? {} : { thoughtSignature: signature };
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text, ...(calls.length === 0 && sign) }]),
    ...calls.map(({ id, name, args }, index) => ({
      functionCall: { id, name, args },
      ...(index === 0 && sign),
    })),
  ];
}

function contentChunk(
  parts: readonly object[],
  { finish, usage = NO_USAGE }: SampleAnswer,
  isLast: boolean,
): object {
  return {
    candidates: [
      {
        index: 0,
        content: { role: "model", parts },
        ...(isLast && { finishReason: finish === "length" ? "MAX_TOKENS" : "STOP" }),
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
      cachedContentTokenCount: usage.cached,
    },
    modelVersion: "m",
  };
}
