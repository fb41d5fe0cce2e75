export { type BrowserCookieOptions, browserCookie } from "./browserCookie.js";
export {
  type ChatHandlers,
  type ChatHandlersOptions,
  createChatHandlers,
  type Identity,
} from "./handlers.js";
export type { OpenedChat } from "./liveChat.js";
export { type ChatRuns, type RunChat, type RunChatOptions, runChat } from "./runChat.js";
