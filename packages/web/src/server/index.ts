export { type ChatHandlers, type ChatHandlersOptions, createChatHandlers } from "./handlers.js";
export type { OpenedChat } from "./liveChat.js";
