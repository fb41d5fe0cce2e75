export { Agent, type AgentOptions, type ChatOptions } from "./agent.js";
export type { ApprovalDecision, ApprovalRequest, Approve } from "./approval.js";
export { AgentError, type AgentErrorCode, isAgentError } from "./errors.js";
export type {
  AgentEvent,
  ContextEvent,
  DoneEvent,
  RetryEvent,
  TextEvent,
  ToolEndEvent,
  ToolOutputEvent,
  ToolProcessEvent,
  ToolStartEvent,
  UsageEvent,
} from "./events.js";
export type {
  ChatMessage,
  ChatProvider,
  ChatRequest,
  ChatResponse,
  ChatToolCall,
  FinishReason,
  ProviderRetry,
  TokenUsage,
} from "./providers/interface.js";
export { loadSession, type Session, saveSession } from "./session.js";
export type { RunOptions, ToolOutcome, ToolResult } from "./tools/execution.js";
export { type CreateRegistryOptions, createToolRegistry, type PackEntry } from "./tools/factory.js";
export type { ChatTool, ExecutableTool, JsonSchema } from "./tools/interface.js";
export { PACK_API_VERSION, registerPack } from "./tools/packs.js";
export { type ToolInfo, ToolRegistry, type ToolRegistryOptions } from "./tools/registry.js";
export { SaveSessionContextTool } from "./tools/sessionContext.js";
export {
  type AccessNeed,
  type AccessRules,
  type BackgroundJob,
  type BackgroundJobs,
  type Diagnosis,
  type PackHost,
  type PackRegistry,
  type RegisterOptions,
  TOOL_CAPABILITIES,
  type ToolCall,
  type ToolCapability,
  type ToolContext,
  type ToolPack,
  type ToolReport,
} from "./tools/types.js";
