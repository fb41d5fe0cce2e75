/** Serves an agent to every editor that supports the Agent Client Protocol. */
export type {
  AcpHost,
  AuthMethod,
  EditorServer,
  EffortChoice,
  HostSession,
  KeptSession,
  ModeChoice,
  ModelChoice,
  OpenSessionRequest,
  PermissionChoice,
  SessionChoices,
  SessionCommand,
  SessionMode,
} from "./host.js";
export { type ServeOptions, serveAcp } from "./serve.js";
export { standardStream } from "./stream.js";
export type { ProgramStart } from "./workers/workerProcesses.js";
