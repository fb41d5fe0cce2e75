export { recordProvider, replayProvider, type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
export { checkPack, inspectPack } from "./checkPack.js";
export { describePack } from "./describePack.js";
export { formatReport } from "./formatReport.js";
export { checkProvider } from "./provider/checkProvider.js";
export { describeProvider } from "./provider/describeProvider.js";
export type {
  ProviderDialect,
  ProviderReport,
  ProviderSubject,
  ProviderTarget,
  SampleAnswer,
  SampleToolCall,
} from "./provider/types.js";
export type { TestRunner } from "./runner.js";
export { temporaryWorkspace, type Workspace } from "./temporaryWorkspace.js";
export type {
  CheckPackOptions,
  CheckResult,
  CheckStatus,
  Finding,
  PackInspection,
  PackLocation,
  PackReport,
  PackTool,
  SampleCall,
} from "./types.js";
