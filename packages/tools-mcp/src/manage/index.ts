/** The API for managing MCP servers: inspect them, approve their tools, log in. */
export { checkedOptions, checkServerOptions, isHttp } from "../config/options.js";
export { type ConnectionHost, createConnectionHost } from "../connection/connectionHost.js";
export { compareTools, type DifferingPart, differingParts, type ToolDifferences } from "../lock/compare.js";
export type { Lock, LockedEra, LockedPrompt, LockedServer, LockedTool, SetAside } from "../lock/lock.js";
export { isGenuine, lockPath, readLock, sourceHash, writeLock } from "../lock/lockFile.js";
export { LoginNeededError } from "../oauth/provider.js";
export { keyValue } from "../paste/addCommand.js";
export { type PastedServer, type PasteOptions, readPasted } from "../paste/pastedServers.js";
export { schemaTokens } from "../tokens.js";
export { connectServers } from "./connect.js";
export { type InspectedServer, inspectServer, type LoginRequest, loginServer } from "./inspect.js";
