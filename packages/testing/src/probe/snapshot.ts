// Node replaces process.chdir when this module is first loaded. Load it now, so that this is not attributed to the
// pack.
process.getBuiltinModule("node:worker_threads");

const WATCHED: Readonly<Record<string, object>> = {
  globalThis,
  process,
  console,
  JSON,
  Math,
  Promise,
  Object,
  Array,
  "Object.prototype": Object.prototype,
  "Array.prototype": Array.prototype,
  "Function.prototype": Function.prototype,
  "String.prototype": String.prototype,
  "Number.prototype": Number.prototype,
  "RegExp.prototype": RegExp.prototype,
  "Promise.prototype": Promise.prototype,
  "Map.prototype": Map.prototype,
  "Set.prototype": Set.prototype,
  "Date.prototype": Date.prototype,
  "Error.prototype": Error.prototype,
};

/** The state of this process that a well-behaved module does not change. */
export interface Snapshot {
  readonly objects: ReadonlyMap<string, PropertyDescriptorMap & Record<symbol, PropertyDescriptor>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly listeners: ReadonlyMap<string, number>;
  readonly resources: readonly string[];
}

export function takeSnapshot(): Snapshot {
  return {
    objects: new Map(
      Object.entries(WATCHED).map(([name, object]) => [name, Object.getOwnPropertyDescriptors(object)]),
    ),
    environment: { ...process.env },
    directory: process.cwd(),
    listeners: new Map(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
    resources: process.getActiveResourcesInfo(),
  };
}

/** What changed since `before`, one phrase each. */
export function changesSince(before: Snapshot): string[] {
  const after = takeSnapshot();
  return [
    ...objectChanges(before, after),
    ...environmentChanges(before, after),
    ...(after.directory === before.directory ? [] : ["changed the working directory"]),
    ...[...after.listeners]
      .filter(([name, count]) => count > (before.listeners.get(name) ?? 0))
      .map(([name]) => `added a process listener for "${name}"`),
    ...extraResources(before.resources).map((name) => `left a ${name} open`),
  ];
}

/** Resources that keep the process alive now and did not before. */
export function extraResources(before: readonly string[]): string[] {
  const known = [...before];
  return process.getActiveResourcesInfo().filter((name) => {
    const index = known.indexOf(name);
    if (index === -1) return true;
    known.splice(index, 1);
    return false;
  });
}

function objectChanges(before: Snapshot, after: Snapshot): string[] {
  const changes: string[] = [];
  for (const [name, now] of after.objects) {
    const then = before.objects.get(name) ?? {};
    for (const key of Reflect.ownKeys(now)) {
      // Read own properties only: a polluted prototype would add others.
      const was = Object.getOwnPropertyDescriptor(then, key)?.value as PropertyDescriptor | undefined;
      const is = (now as Record<PropertyKey, PropertyDescriptor>)[key];
      if (!was) changes.push(`added ${name}.${String(key)}`);
      else if (is && differs(was, is)) changes.push(`replaced ${name}.${String(key)}`);
    }
  }
  return changes;
}

// Node defines many globals as getters that become plain values on first read: that is not a change.
function differs(was: PropertyDescriptor, is: PropertyDescriptor): boolean {
  if (was.get && !is.get) return false;
  if (typeof was.value !== "function" && typeof is.value !== "function") return was.get !== is.get;
  return was.value !== is.value;
}

function environmentChanges(before: Snapshot, after: Snapshot): string[] {
  const names = new Set([...Object.keys(before.environment), ...Object.keys(after.environment)]);
  return [...names]
    .filter((name) => before.environment[name] !== after.environment[name])
    .map((name) => `changed the environment variable ${name}`);
}
