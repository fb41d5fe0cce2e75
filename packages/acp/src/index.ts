/** An agent in every editor that speaks the Agent Client Protocol. */
export type {
  AcpHost,
  EditorServer,
  HostSession,
  KeptSession,
  ModelChoice,
  OpenSessionRequest,
} from "./host.js";
export { serveAcp, standardStream } from "./serve.js";
