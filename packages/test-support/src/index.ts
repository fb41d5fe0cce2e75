/** Code shared by the tests of several packages. A test never imports another package's test folder. */
export { type Asked, askProvider, MODES, type Mode } from "./askProvider.js";
export {
  answer,
  type ChatServer,
  call,
  chunk,
  event,
  events,
  json,
  pieces,
  type ReceivedRequest,
  type Reply,
  reset,
  silence,
  startChatServer,
} from "./chatServer.js";
export { corpusLines } from "./corpora.js";
export { describeNow } from "./describeNow.js";
export { type FunctionSchema, functionSchemas, withJsonTypes } from "./functionSchemas.js";
export { type McpHttpBehaviour, McpHttpServer } from "./mcpHttpServer.js";
export { expectPackagesRead } from "./packagesRead.js";
export { type Random, seededRandom } from "./random.js";
export { hasTmux, type TerminalOptions, TestTerminal } from "./terminal.js";
export { warningsDuring } from "./warnings.js";
export {
  type ArgumentCase,
  argument,
  expectClearErrors,
  expectComplete,
  expectInvalidArgument,
  expectMethodsComplete,
} from "./wrongValues.js";
