export { recordProvider, replayProvider, type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
export { checkPack, inspectPack } from "./checkPack.js";
export { describePack, type TestRunner } from "./describePack.js";
export { formatReport } from "./formatReport.js";
export { temporaryWorkspace, type Workspace } from "./temporaryWorkspace.js";
export type {
  CheckPackOptions,
  CheckResult,
  CheckStatus,
  Finding,
  PackLocation,
  PackReport,
  PackTool,
  SampleCall,
} from "./types.js";
