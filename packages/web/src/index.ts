export {
  type ChatClient,
  type ChatClientOptions,
  type ChatClientState,
  createChatClient,
} from "./client/client.js";
export type { ChatAction, ChatEvent, PendingApproval, PendingQuestion } from "./events.js";
export type {
  Block,
  CallBlock,
  CallState,
  ChatState,
  ChildBlocks,
  NoticeBlock,
  ReasoningBlock,
  TextBlock,
  ViewMessage,
} from "./state/chatState.js";
export { EMPTY_CHAT } from "./state/chatState.js";
export { chatStateOf } from "./state/fromMessages.js";
export { reduceChat } from "./state/reduce.js";
