/** The API for host programs besides `runChat`: the chat in its parts, and formatting of events, calls and sizes. */

export {
  approvalLines,
  denial,
  describeNeed,
  questionText,
  readDecision,
} from "./approval/approvalQuestion.js";
export { MODE_HELP, MODE_NAMES, PLAN_NOTE } from "./approval/mode.js";
export { type AskPermit, PERMIT_CHOICES } from "./approval/userQuestion.js";
export { CallLog } from "./chat/callLog.js";
export { ChatUsage } from "./chat/chatUsage.js";
export { createChat } from "./chat/createChat.js";
export { composeMessage } from "./chat/outgoing.js";
export type { Aside, Chat, ReadyChat } from "./chat/types.js";
export { BUSY } from "./commands/context.js";
export { COMMANDS, sendMade } from "./commands/slashCommands.js";
export { commandMessage, withNotes } from "./display/addedParts.js";
export { diffLines } from "./display/fileDiff.js";
export { isEmptyAnswer, usageText } from "./display/notices.js";
export { plainActivity } from "./display/plainActivity.js";
export { splitMessage } from "./display/splitMessage.js";
export { textDiff } from "./display/textDiff.js";
export { transcriptLines } from "./display/transcript.js";
export { workingRow } from "./display/workingRow.js";
export * from "./index.js";
export { editExternally, editorCommand } from "./input/externalEditor.js";
export { FileIndex } from "./input/fileIndex.js";
export { attach, isImagePath } from "./input/mentions.js";
export { drawFirstPrompt } from "./screen/firstPrompt.js";
export { LiveScreen, streamScreen } from "./screen/liveScreen.js";
export type { Status } from "./screen/statusRow.js";
export { isLiveTerminal, terminalStyle } from "./screen/terminalKind.js";
export { absolutePath, ensurePrivateDirectory, homeDirectory } from "./system/directories.js";
export { ownStandardOutput } from "./system/output.js";
export { ownProgram } from "./system/ownProgram.js";
export { CHAT_EXITS, ENDING_SIGNALS, SIGNAL_EXITS } from "./system/signals.js";
export { formatAge, formatCost, formatDuration, sizeText } from "./text/amounts.js";
export { PLAIN_STYLE, type Style } from "./text/style.js";
export { clipRow, cutToWidth, styledWidth, wrapWords } from "./text/width.js";
