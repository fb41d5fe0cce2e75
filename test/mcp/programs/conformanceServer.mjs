// A pack with the tools the conformance suite calls, served by `toMcpServer`. Prints its address.
import { Conversation, createToolRegistry, defineTool } from "@agent/core";
import { toMcpServer } from "@agent/tools-mcp/server";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image", mediaType: "image/png", data: PIXEL };
const audio = { type: "file", mediaType: "audio/wav", data: Buffer.from("RIFF").toString("base64") };
const file = {
  type: "file",
  mediaType: "text/plain",
  data: Buffer.from("a file").toString("base64"),
  name: "a.txt",
};

const tools = {
  test_simple_text: () => "This is a simple text response for testing.",
  test_image_content: (_, call) => attached(call, image),
  test_audio_content: (_, call) => attached(call, audio),
  test_embedded_resource: (_, call) => attached(call, file),
  test_multiple_content_types: (_, call) => attached(call, image, file),
  test_error_handling: () => {
    throw new Error("This tool intentionally returns an error for testing");
  },
  test_tool_with_progress: (_, call) => {
    for (const step of ["one", "two", "three"]) call.onOutput(`${step}\n`);
    return "done";
  },
};

function attached(call, ...parts) {
  for (const part of parts) call.attach(part);
  return "attached";
}

const registry = createToolRegistry(new Conversation());
for (const [name, execute] of Object.entries(tools)) {
  const input = { type: "object", properties: {} };
  registry.register(
    defineTool({ name, description: `Does what ${name} says`, input, capabilities: ["read"], execute }),
  );
}
const { url } = await toMcpServer(registry).listen({ token: false });
process.stdout.write(`${url}\n`);
