import { describe, expect, test } from "vitest";
import { seccompFilter } from "./seccomp.js";

const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
type Name = keyof typeof ARCHITECTURES;
/** Numbers from the kernel's own tables, for the calls of the tests. */
const CALLS = {
  x64: {
    read: 0,
    socket: 41,
    socketpair: 53,
    clone: 56,
    clone3: 435,
    ioctl: 16,
    shmget: 29,
    semget: 64,
    msgget: 68,
    mount: 165,
    unshare: 272,
  },
  arm64: {
    read: 63,
    socket: 198,
    socketpair: 199,
    clone: 220,
    clone3: 435,
    ioctl: 29,
    shmget: 194,
    semget: 190,
    msgget: 186,
    mount: 40,
    unshare: 97,
  },
} as const;

/** What the kernel does with a call: a small interpreter of classic BPF. */
function decide(filter: Buffer, arch: number, number: number, args: readonly bigint[] = []): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(value, 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [code, value] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)];
    const jump = (holds: boolean) => {
      at += 8 * filter.readUInt8(at + (holds ? 2 : 3));
    };
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x54) loaded = (loaded & value) >>> 0;
    else if (code === 0x15) jump(loaded === value);
    else if (code === 0x25) jump(loaded > value);
    else if (code === 0x35) jump(loaded >= value);
    else if (code === 0x45) jump((loaded & value) !== 0);
    else if (code === 0x06)
      return value === 0x7fff0000 ? "allow" : value === 0x80000000 ? "kill" : `errno ${value & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the filter has no answer");
}

describe.each(["x64", "arm64"] as const)("on %s", (name: Name) => {
  const calls = CALLS[name];
  const run = (call: keyof typeof calls, ...args: number[]) =>
    decide(
      seccompFilter({ unixSockets: false }, name) as Buffer,
      ARCHITECTURES[name],
      calls[call],
      args.map(BigInt),
    );

  test("ordinary calls pass, and those of other architectures end the program", () => {
    expect(run("read")).toBe("allow");
    const other = ARCHITECTURES[name === "x64" ? "arm64" : "x64"];
    const filter = seccompFilter({ unixSockets: false }, name) as Buffer;
    expect(decide(filter, other, calls.read)).toBe("kill");
    expect(decide(filter, 0x40000003, calls.read)).toBe("kill"); // 32-bit x86
  });

  test("sockets: the network's, no others", () => {
    expect([2, 10, 16].map((family) => run("socket", family))).toEqual(["allow", "allow", "allow"]);
    expect([1, 17, 31, 38, 40].map((family) => run("socket", family))).toEqual(Array(5).fill("errno 1"));
    // The kernel looks at the lower half alone.
    expect(
      decide(seccompFilter({ unixSockets: false }, name) as Buffer, ARCHITECTURES[name], calls.socket, [
        0x500000001n,
      ]),
    ).toBe("errno 1");
  });

  test("pairs that stay pairs, with any flag", () => {
    expect([1, 5, 1 | 0o2000000, 5 | 0o4000].map((type) => run("socketpair", 1, type))).toEqual(
      Array(4).fill("allow"),
    );
    expect([2, 3, 2 | 0o2000000].map((type) => run("socketpair", 1, type))).toEqual(Array(3).fill("errno 1"));
  });

  test("threads and processes, but no namespaces", () => {
    expect(run("clone", 0x3d0f00)).toBe("allow");
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(run("clone", flag | 17)).toBe("errno 1");
      expect(run("unshare", flag)).toBe("errno 1");
    }
    expect(run("clone3")).toBe("errno 38");
  });

  test("packs can make no sockets and no processes, and still start threads", () => {
    const filter = seccompFilter({ unixSockets: false, sockets: false, processes: false }, name) as Buffer;
    const ask = (number: number, ...args: number[]) =>
      decide(filter, ARCHITECTURES[name], number, args.map(BigInt));
    expect([1, 2, 10, 16].map((family) => ask(calls.socket, family))).toEqual(Array(4).fill("errno 1"));
    expect(ask(calls.socketpair, 1, 1)).toBe("allow");
    expect(ask(calls.clone, 0x3d0f00)).toBe("allow");
    expect(ask(calls.clone, 17)).toBe("errno 1");
    expect(ask(calls.clone, 0x3d0f00 | 0x10000000)).toBe("errno 1");
    if (name === "x64") expect([57, 58].map((number) => ask(number))).toEqual(["errno 1", "errno 1"]);
    const programs = seccompFilter({ unixSockets: false, sockets: false }, name) as Buffer;
    expect(decide(programs, ARCHITECTURES[name], calls.clone, [17n])).toBe("allow");
  });

  test("lets packs make no files in memory, which no limit counts", () => {
    const memfd = [name === "x64" ? 319 : 279, 447];
    const ask = (memoryFiles: boolean) => {
      const filter = seccompFilter({ unixSockets: false, memoryFiles }, name) as Buffer;
      return memfd.map((number) => decide(filter, ARCHITECTURES[name], number));
    };
    expect([ask(true), ask(false)]).toEqual([Array(2).fill("allow"), Array(2).fill("errno 1")]);
  });

  test("prevents typing into terminals, also by a number whose upper half is set", () => {
    expect(run("ioctl", 0, 0x5401)).toBe("allow");
    expect(run("ioctl", 0, 0x5412)).toBe("errno 1");
    expect(
      decide(seccompFilter({ unixSockets: true }, name) as Buffer, ARCHITECTURES[name], calls.ioctl, [
        0n,
        0x100005412n,
      ]),
    ).toBe("errno 1");
  });

  test("allows only small segments of shared memory and small sets of semaphores, and no message queues", () => {
    expect(run("semget", 0, 17)).toBe("allow");
    expect(run("semget", 0, 33)).toBe("errno 1");
    expect(run("semget", 0, 2 ** 32 - 1)).toBe("errno 1");
    expect(run("msgget", 0, 0)).toBe("errno 38");
    expect(run("shmget", 0, 56)).toBe("allow");
    expect(run("shmget", 0, 4097)).toBe("errno 1");
    expect(run("shmget", 0, 2 ** 32)).toBe("errno 1");
  });

  test("unix sockets where they are wanted", () => {
    const filter = seccompFilter({ unixSockets: true }, name) as Buffer;
    expect(decide(filter, ARCHITECTURES[name], calls.socket, [1n])).toBe("allow");
    expect(decide(filter, ARCHITECTURES[name], calls.socketpair, [1n, 2n])).toBe("allow");
    expect(decide(filter, ARCHITECTURES[name], calls.mount)).toBe("errno 1");
  });
});

test("refuses the x32 numbers of all calls", () => {
  const filter = seccompFilter({ unixSockets: true }, "x64") as Buffer;
  for (const number of [0, 41, 165, 512])
    expect(decide(filter, ARCHITECTURES.x64, 0x40000000 + number)).toBe("errno 38");
});

test("another architecture has no filter", () => {
  expect(seccompFilter({ unixSockets: false }, "riscv64")).toBeUndefined();
});
