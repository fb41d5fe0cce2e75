export { Agent } from "./agent.js";
export type { AgentOptions } from "./agentOptions.js";
export type { ChatOptions, CompactOptions, RunOptions, RunResult } from "./chatOptions.js";
export {
  type Content,
  type ContentPart,
  contentText,
  type FilePart,
  type ImagePart,
  type TextPart,
} from "./conversation/content.js";
export {
  Conversation,
  type ConversationChange,
  type ConversationOptions,
  type MessageInfo,
  type ResultDetails,
} from "./conversation/conversation.js";
export { fileStore } from "./conversation/fileStore.js";
export type { PackState, StateChange, StateEntry } from "./conversation/packState.js";
export type { PendingCall, PendingRound } from "./conversation/pending.js";
export { type RecorderOptions, recordSession, type SessionRecorder } from "./conversation/recorder.js";
export { loadSession, type Session, saveSession } from "./conversation/session.js";
export type { Spending } from "./conversation/spending.js";
export {
  type ConversationStore,
  memoryStore,
  openConversation,
  type StoredConversation,
} from "./conversation/store.js";
export { AgentError, type AgentErrorCode, type AgentErrorDetails, isAgentError } from "./errors.js";
export type * from "./events.js";
export type {
  ApprovalDecision,
  ApprovalDecisions,
  ApprovalRequest,
  Approve,
} from "./loop/approval.js";
export type {
  CompletedRound,
  NextRequest,
  RequestChange,
  StepControl,
} from "./loop/askModel.js";
export type { BudgetLimits, BudgetReached, OnBudget } from "./loop/budget.js";
export type { AgentWorktree, OpenWorktree, WorktreeEnd } from "./loop/children.js";
export { textStream } from "./loop/eventStream.js";
export type {
  AddDecision,
  AfterDecision,
  BeforeDecision,
  CallHooks,
  HookCall,
  HookCompact,
  HookMessage,
  HookSession,
  HookStop,
  LifecycleHooks,
  MessageDecision,
  StopDecision,
} from "./loop/hooks.js";
export type { Telemetry } from "./loop/telemetry.js";
export type * from "./providers/factory.js";
export type * from "./providers/interface.js";
export { wrapProvider } from "./providers/wrap.js";
export { type TypedSchema, typedSchema } from "./toolkit/jsonSchema/jsonSchemaValue.js";
export type {
  Schema,
  SchemaInput,
  SchemaValue,
  StandardSchema,
} from "./toolkit/jsonSchema/standardSchema.js";
export type {
  AlwaysOffer,
  CallAbout,
  CallDescription,
  CallPreview,
  CallTarget,
  DescribedCall,
  DiffHunk,
  FileDiff,
  FileTarget,
  Match,
  PermissionLanguage,
  ToolKind,
} from "./tools/callDescription.js";
export {
  type DefinedPack,
  definePack,
  type NoOptions,
  type Off,
  off,
  type PackDefinition,
  type PackParts,
  type SetupHost,
} from "./tools/definePack.js";
export {
  type AgentToolDefinition,
  agentTool,
  defineTool,
  type ToolDefinition,
  type ToolInput,
  type ToolOutput,
} from "./tools/defineTool.js";
export type { ToolOutcome, ToolResult } from "./tools/execution.js";
export {
  type CreateRegistryOptions,
  createToolRegistry,
  type HostData,
  saveSessionContextTool,
} from "./tools/factory.js";
export type { ResolveModel } from "./tools/models.js";
export type {
  AgentToolNames,
  BackgroundAgent,
  BackgroundJob,
  BackgroundJobs,
  CheckedPacks,
  Containment,
  Diagnosis,
  EditorFiles,
  HostModel,
  LoadTools,
  MentionItem,
  MentionSource,
  NamedPacks,
  PackAgent,
  PackCommand,
  PackDirectories,
  PackEntry,
  PackHost,
  PackNeeds,
  PackOptions,
  PackPrompt,
  PackRegistry,
  PackServices,
  PackSkill,
  PermitAnswer,
  PermitRequest,
  QuestionField,
  RegisterOptions,
  ToolNames,
  ToolPack,
  UserAnswer,
  UserQuestion,
  WakeNotice,
} from "./tools/pack.js";
export { PACK_API_VERSION, registerPack } from "./tools/registerPack.js";
export { type ToolDetails, type ToolInfo, ToolRegistry, type ToolRegistryOptions } from "./tools/registry.js";
export type { ResultView } from "./tools/resultView.js";
export type { PromptSection } from "./tools/services.js";
export type {
  ChatTool,
  DescribeOptions,
  ExecutableTool,
  FreeformInput,
  JsonSchema,
  ParsedArguments,
  RedirectedCall,
} from "./tools/tool.js";
export {
  type AccessNeed,
  type AccessRules,
  type ChildAgentAnswer,
  type ChildAgentRequest,
  contextType,
  type DefinedToolCall,
  TOOL_CAPABILITIES,
  type ToolCall,
  type ToolCapability,
  type ToolContext,
  type ToolProgress,
  type ToolReport,
} from "./tools/tool.js";
