export { createChat } from "./chat/createChat.js";
export type { Chat, ChatPlaces, ChatSettings, ReadyChat } from "./chat/types.js";
