/**
 * The first program of every sandbox. It gets the three functions of the host, defines the globals of scripts, and
 * returns two functions: one starts the script, the other settles a call. Only strings and numbers cross the boundary.
 * It keeps references to the built-in functions it needs, so that a script that replaces them only breaks itself.
 */
export const PRELUDE = `(function (send, output, finish) {
  "use strict";
  const { stringify, parse } = JSON;
  const { freeze, fromEntries, defineProperty } = Object;
  const { construct } = Reflect;
  const [Text, Failure, Dictionary, Group, Later, Clock] = [String, Error, Map, Set, Promise, Date];
  const waiting = { __proto__: null };
  // It would get the functions on the stack, those of this program included.
  defineProperty(Failure, "prepareStackTrace", { value: undefined });

  class ToolError extends Failure {
    constructor({ message, tool, outcome }, stack) {
      super(message);
      this.name = "ToolError";
      this.tool = tool;
      this.outcome = outcome;
      defineProperty(this, "stack", { value: stack, configurable: true, writable: true });
    }
  }

  const plain = (key, value) =>
    typeof value === "bigint" ? Text(value)
    : value instanceof Dictionary ? fromEntries(value)
    : value instanceof Group ? [...value]
    : value instanceof Failure ? value.name + ": " + value.message
    : value;
  const show = (value) => (typeof value === "string" ? value : (stringify(value, plain) ?? Text(value)));
  const describeError = (error) => {
    try {
      if (!(error instanceof Failure)) return "The script threw " + show(error);
      return error.name + ": " + error.message + "\\n" + (error.stack ?? "");
    } catch {
      return "The script threw an error that cannot be read.";
    }
  };

  const start = (kind, name, request) => {
    const { stack } = new Failure();
    let id;
    const answer = new Later((resolve, reject) => {
      id = send(kind, name, stringify(request, plain) ?? "null");
      waiting[id] = { resolve, reject, stack };
    });
    // The script was stopped. The engine looks for that in loops.
    while (id < 0);
    return answer;
  };
  const call = (name) => (args = {}) => start("tool", name, { name, args });
  const print = (...values) => output(values.map(show).join(" ") + "\\n");
  const define = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true });

  define("tools", new Proxy(freeze({ __proto__: null }), {
    get: (target, name) => (typeof name === "symbol" || name === "then" ? undefined : call(name)),
  }));
  define("find", (words, limit) => start("find", "find", { words, limit }));
  define("describe", (name) => start("describe", "describe", { name }));
  define("agent", (request) => start("agent", "agent", typeof request === "string" ? { task: request } : request));
  define("print", print);
  define("console", freeze({ log: print, info: print, warn: print, error: print, debug: print }));
  define("ToolError", ToolError);

  const noClock = () => {
    throw new Failure("scripts have no clock, so that they can be resumed. Write the date into the script, or get it from a tool");
  };
  defineProperty(Clock, "now", { value: noClock });
  const DateWithoutClock = new Proxy(Clock, {
    apply: noClock,
    construct: (target, args, newTarget) =>
      args.length === 0 ? noClock() : construct(target, args, newTarget === DateWithoutClock ? target : newTarget),
  });
  defineProperty(Clock.prototype, "constructor", { value: DateWithoutClock });
  define("Date", DateWithoutClock);

  return {
    start: async (main) => {
      try {
        const value = await main();
        finish("returned", value === undefined ? "" : show(value));
      } catch (error) {
        finish("threw", describeError(error));
      }
    },
    settle: (id, json) => {
      const { resolve, reject, stack } = waiting[id];
      delete waiting[id];
      const { value, error } = parse(json);
      if (error) reject(new ToolError(error, stack));
      else resolve(value);
    },
  };
})`;
