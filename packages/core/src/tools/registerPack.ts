import { describeValue, errorMessage, quote } from "@agent/internal";
import { AgentError } from "../errors.js";
import { checkFunction, checkObject, checkRegistry, checkText } from "../toolkit/hostOptions/checks.js";
import type { PackHost, PackRegistry, PackServices, RegisterOptions, ToolPack } from "./pack.js";
import { findMissingExport } from "./packExports.js";
import { checkServices } from "./services.js";
import type { ExecutableTool } from "./tool.js";

/** The version of the contract between core and packs. It increases only when an old pack would stop working. */
export const PACK_API_VERSION = 1;

/**
 * Registers the tools of a pack, all or none: if it throws half-way, none stays registered. The pack works on a view
 * that can add tools and declare them disabled, but can neither enable a disabled one nor touch another pack's: only
 * the user opts in. Returns the names it registered.
 */
export function registerPack(registry: PackRegistry, pack: ToolPack, host?: PackHost): string[] {
  checkRegistry(registry);
  if (host !== undefined) checkObject("host", host);
  const name = packLabel(pack);
  checkPack(pack);
  const open = { provided: [], afterwards: [] };
  const isElsewhere = host?.directory !== undefined && pack.followsDirectory !== true;
  const scope: PackScope = { registry, source: name, own: [], open, ...(isElsewhere && { isElsewhere }) };
  try {
    const returned: unknown = pack.register(viewOf(scope), hostOf(registry, pack, name, host));
    if (returned instanceof Promise) {
      // The failure is already reported here; a second report as an unhandled rejection would crash the process.
      returned.catch(() => undefined);
      throw new AgentError("pack_invalid", "register() returned a promise. It must register synchronously.");
    }
  } catch (error) {
    undo(scope, open);
    throw new AgentError("pack_failed", `Pack ${quote(name)} failed to register: ${errorMessage(error)}`, {
      cause: error,
    });
  } finally {
    delete scope.open;
  }
  complete(scope, open);
  return [...scope.own];
}

/**
 * Adds the pack's secrets, state and directories to the host data. A preset that registers the pack does not need to
 * know about them, and its own are not passed on.
 */
function hostOf(
  registry: PackRegistry,
  { secrets }: ToolPack,
  name: string,
  host: PackHost | undefined,
): PackHost | undefined {
  const claimed = secrets && registry.claimSecrets?.(name, secrets);
  if (!host) return undefined;
  const {
    secretVariables = registry.secretVariables,
    secrets: _secrets,
    state: _state,
    directories: _directories,
    ...rest
  } = host;
  const state = name === UNNAMED ? undefined : host.context?.packState?.(name);
  return {
    ...rest,
    ...(name !== UNNAMED && registry.hostFor?.(name)),
    ...(state && { state }),
    ...(claimed && { secrets: claimed }),
    ...(secretVariables && { secretVariables }),
  };
}

const UNNAMED = "(unnamed)";

function packLabel(pack: ToolPack): string {
  const name: unknown = pack?.packName;
  return typeof name === "string" && name !== "" ? name : UNNAMED;
}

/** Throws `pack_invalid` for what no host can register. */
export function checkPack(pack: ToolPack): void {
  const name = packLabel(pack);
  if (pack === null || (typeof pack !== "object" && typeof pack !== "function") || Array.isArray(pack)) {
    throw new AgentError(
      "pack_invalid",
      `pack must be a module with a named export register(registry), got ${describeValue(pack)}.`,
    );
  }
  const { register }: { register: unknown } = pack;
  if (typeof register !== "function") {
    const { default: byDefault } = pack as { default?: { register?: unknown } };
    const hint =
      typeof byDefault === "function" || typeof byDefault?.register === "function"
        ? " It has a default export; export a function named register instead."
        : "";
    throw new AgentError(
      "pack_invalid",
      `Pack ${quote(name)} must have a named export register(registry), got ${describeValue(register)}.${hint}`,
    );
  }
  const missing = findMissingExport(pack);
  if (missing !== undefined) throw new AgentError("pack_invalid", `Pack ${quote(name)}: ${missing}`);
  const { secrets }: { secrets?: unknown } = pack;
  if (secrets !== undefined && !(Array.isArray(secrets) && secrets.every((one) => typeof one === "string"))) {
    throw new AgentError(
      "pack_invalid",
      `Pack ${quote(name)}: secrets must be a list of variable names such as ["ACME_TOKEN"], got ${describeValue(secrets)}.`,
    );
  }
  const version: unknown = pack.packApiVersion ?? PACK_API_VERSION;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) {
    throw new AgentError(
      "pack_invalid",
      `Pack ${quote(name)}: packApiVersion must be a whole number of at least 1, got ${describeValue(version)}.`,
    );
  }
  if (version > PACK_API_VERSION) {
    throw new AgentError(
      "pack_invalid",
      `Pack ${quote(name)} was built for pack API ${version}; this @agent/core serves ${PACK_API_VERSION}. Upgrade @agent/core.`,
    );
  }
}

/** What one pack has registered. A pack that refreshes its tools keeps this, so that it is small. */
interface PackScope {
  readonly registry: PackRegistry;
  readonly source: string;
  own: readonly string[];
  /** The host works in another directory, which the pack does not follow. */
  readonly isElsewhere?: boolean;
  /** A tool that is unregistered and registered again keeps the user's enabled or disabled setting. */
  leftAs?: Map<string, boolean>;
  /** Present until the whole pack is registered: a pack that throws half-way leaves nothing registered. */
  open?: {
    readonly provided: { readonly services: PackServices; readonly by: string }[];
    readonly afterwards: (() => void)[];
  };
}

function addTool(scope: PackScope, to: PackRegistry, tool: ExecutableTool, options: RegisterOptions): void {
  const enabled = scope.leftAs?.get(tool?.name);
  to.register(tool, { source: scope.source, ...options, ...(enabled !== undefined && { enabled }) });
  scope.own = [...scope.own, tool.name];
  if (scope.isElsewhere && !usesOnlyNetwork(tool.capabilities)) to.withhold?.(tool.name, NOT_HERE);
}

const NOT_HERE =
  "its pack does not say that it works in another directory than that of the process (followsDirectory)";

function usesOnlyNetwork(capabilities: readonly string[] = []): boolean {
  return capabilities.length > 0 && capabilities.every((one) => one === "network");
}

function ownOnly({ own }: PackScope, action: string, name: string): void {
  if (own.includes(name)) return;
  throw new AgentError("pack_invalid", `It may not ${action} ${quote(name)}, which is not its own tool.`);
}

function whenRegistered({ open }: PackScope, start: () => void): void {
  if (open) open.afterwards.push(start);
  else start();
}

/**
 * The registry as a pack sees it while it registers. With `outer` it has no time limit: a server may add and remove tools as
 * long as it runs. `outer` is the registry itself, or the late view of the preset that this pack is part of.
 */
function viewOf(scope: PackScope, outer?: PackRegistry): PackRegistry {
  const { registry, source } = scope;
  return Object.freeze({
    register(tool: ExecutableTool, options: RegisterOptions = {}) {
      if (!outer && !scope.open) {
        throw new AgentError(
          "pack_invalid",
          `Pack ${quote(source)} registered a tool after register() returned. Use registerLater for tools that take time.`,
        );
      }
      addTool(scope, outer ?? registry, tool, options);
    },
    unregister(name) {
      ownOnly(scope, "unregister", name);
      registry.release?.(name);
      scope.leftAs ??= new Map();
      scope.leftAs.set(name, registry.isToolEnabled(name));
      registry.unregister(name);
      scope.own = scope.own.filter((one) => one !== name);
    },
    disable(name) {
      ownOnly(scope, "disable", name);
      return registry.disable(name);
    },
    withhold(name, reason) {
      ownOnly(scope, "withhold", name);
      return registry.withhold?.(name, reason) ?? registry.disable(name);
    },
    release(name) {
      ownOnly(scope, "release", name);
      if (scope.isElsewhere && !usesOnlyNetwork(registry.describeTool?.(name)?.capabilities)) return false;
      return registry.release?.(name) ?? false;
    },
    enable(name) {
      throw new AgentError(
        "pack_invalid",
        `It tried to enable ${quote(name)}. A pack declares its tools; only the user enables one that is off.`,
      );
    },
    hasTool: (name) => registry.hasTool(name),
    isToolEnabled: (name) => registry.isToolEnabled(name),
    getToolNames: () => registry.getToolNames(),
    describeTool: (name) => registry.describeTool?.(name),
    claimSecrets: (pack, variables) => registry.claimSecrets?.(pack, variables) ?? {},
    ...(registry.secretVariables && { secretVariables: registry.secretVariables }),
    hostFor: (pack) => registry.hostFor?.(pack) ?? {},
    provide(services, by = source) {
      checkServices(services);
      if (scope.open) scope.open.provided.push({ services, by });
      else registry.provide?.(services, by);
    },
    registerLater(description, load) {
      checkText("description", description);
      checkFunction("load", load);
      whenRegistered(scope, () =>
        registry.registerLater?.(description, (late, signal) => load(viewOf(scope, late), signal)),
      );
    },
    onRefresh(refresh) {
      checkFunction("refresh", refresh);
      whenRegistered(scope, () => registry.onRefresh?.((late) => refresh(viewOf(scope, late))));
    },
  } satisfies PackRegistry);
}

/** Publishes what the pack provided. */
function complete(scope: PackScope, { provided, afterwards }: NonNullable<PackScope["open"]>): void {
  for (const { services, by } of provided) scope.registry.provide?.(services, by);
  for (const start of afterwards) start();
}

function undo({ registry, own }: PackScope, { provided }: NonNullable<PackScope["open"]>): void {
  for (const name of own) registry.unregister(name);
  // Ignore a failure of `dispose`: the reason why the pack failed is more useful.
  for (const { services } of provided) (async () => await services.dispose?.())().catch(() => undefined);
}
