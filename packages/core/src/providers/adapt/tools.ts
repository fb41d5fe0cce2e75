import { quote } from "@agent/internal";
import { arrayOf, checkFunction, checkObject, checkText } from "../../toolkit/hostOptions/checks.js";
import type { ChatTool, JsonSchema } from "../../tools/tool.js";
import type { ChatRequest } from "../interface.js";
import { JsonTexts } from "./jsonBody.js";
import type { AdaptedSchema } from "./keywords.js";
import type { Notices } from "./notices.js";

const checkTools = arrayOf("tools");

/** A tool with its parameters in the form a server accepts. */
export interface AdaptedTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: JsonSchema;
  readonly strict: boolean;
}

/**
 * Adapts tools to a server, each tool once, and reports a notice about keywords removed from a schema. `server` is its
 * name in the notice.
 */
export class ToolAdapter {
  readonly #server: string;
  readonly #adapt: (parameters: JsonSchema | undefined) => AdaptedSchema;
  readonly #notices: Notices;
  // Requests share the tools of a registry, and adapting a large schema takes longer than the rest of a request.
  readonly #adapted = new WeakMap<ChatTool, AdaptedTool>();
  readonly #texts = new JsonTexts<AdaptedTool>();

  constructor(
    server: string,
    adapt: (parameters: JsonSchema | undefined) => AdaptedSchema,
    notices: Notices,
  ) {
    checkText("server", server);
    checkFunction("adapt", adapt);
    checkObject("notices", notices);
    this.#server = server;
    this.#adapt = adapt;
    this.#notices = notices;
  }

  /**
   * The JSON text of each tool of a request. `write` returns the object to serialise; `nameOf` returns the tool's name
   * on the server, if it differs.
   */
  texts(
    request: Pick<ChatRequest, "tools" | "onNotice">,
    write: (tool: AdaptedTool) => object,
    nameOf = (name: string) => name,
  ): string[] {
    checkObject("request", request);
    checkTools("request.tools", request.tools);
    checkFunction("write", write);
    return request.tools.map((tool) => {
      const adapted = this.#adapted.get(tool) ?? this.#adaptTool(tool, request);
      const name = nameOf(adapted.name);
      return (
        this.#texts.get(adapted, name) ??
        this.#texts.keep(adapted, JSON.stringify(write({ ...adapted, name })), name)
      );
    });
  }

  #adaptTool(tool: ChatTool, request: Pick<ChatRequest, "onNotice">): AdaptedTool {
    const { name, description, parameters, strict } = tool.function;
    const { schema, leftOut } = this.#adapt(parameters);
    if (leftOut.length > 0) {
      this.#notices.say(
        request,
        `${this.#server} does not take ${leftOut.join(", ")} in the parameters of the tool ${quote(name)}: the model does not see it. Calls are still checked against the whole schema.`,
      );
    }
    const adapted = { name, description, parameters: schema, strict: strict === true };
    this.#adapted.set(tool, adapted);
    return adapted;
  }
}
