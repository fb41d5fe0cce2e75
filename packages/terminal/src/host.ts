/** What a host program can use beside `runChat`: the chat in its parts, and events, calls and sizes as text. */

export {
  approvalLines,
  denial,
  describeNeed,
  questionText,
  readDecision,
} from "./approval/approvalQuestion.js";
export {
  type AlwaysChoice,
  type AskPermit,
  type AskPerson,
  type GrantScope,
  PERMIT_CHOICES,
  type PersonDecision,
} from "./approval/decision.js";
export { MODE_HELP, MODE_NAMES, nextMode, PLAN_NOTE } from "./approval/mode.js";
export { CallLog } from "./chat/callLog.js";
export { createChat } from "./chat/createChat.js";
export { composeMessage } from "./chat/outgoing.js";
export type { Aside, Chat, ChatSessions, ChatSettings, ReadyChat } from "./chat/types.js";
export { UsageMeter } from "./chat/usageMeter.js";
export { BUSY, type CommandContext, type SlashCommand } from "./commands/context.js";
export { sessionItem } from "./commands/sessionCommands.js";
export { COMMANDS, sendMade } from "./commands/slashCommands.js";
export { Activity } from "./display/activity.js";
export { commandMessage, withNotes } from "./display/addedParts.js";
export { isEmptyAnswer, usageText } from "./display/notices.js";
export { plainActivity } from "./display/plainActivity.js";
export { splitMessage } from "./display/splitMessage.js";
export { workingRow } from "./display/workingRow.js";
export { FileIndex } from "./input/fileIndex.js";
export { attach, isImagePath, type MentionPlace } from "./input/mentions.js";
export { drawFirstPrompt } from "./screen/firstPrompt.js";
export { Frames } from "./screen/frames.js";
export { LiveRegion } from "./screen/liveRegion.js";
export { isLiveTerminal, refreshSize, terminalSize, terminalStyle } from "./screen/terminalKind.js";
export { absolutePath, ensurePrivateDirectory, homeDirectory } from "./system/directories.js";
export { ownStandardOutput } from "./system/output.js";
export { ownProgram } from "./system/ownProgram.js";
export { CHAT_EXITS, ENDING_SIGNALS, SIGNAL_EXITS } from "./system/signals.js";
export { sizeText } from "./text/amounts.js";
export { formatCost } from "./text/cost.js";
export { formatDuration } from "./text/duration.js";
export { PLAIN_STYLE, type Style } from "./text/style.js";
export { clipRow, cutToWidth, styledWidth, wrapWords } from "./text/width.js";
