/** The options that the system-call filter of a sandbox depends on. */
export interface SeccompOptions {
  /** Whether commands may create Unix sockets. A filter sees the family of a socket, never the path it connects to. */
  readonly unixSockets: boolean;
  /** Whether programs may connect anywhere. `false`: they can only create connected socket pairs. Default `true`. */
  readonly sockets?: boolean;
  /** Whether programs may start others. `false`: they can only start threads. Default `true`. */
  readonly processes?: boolean;
  /** Whether programs may create files in memory, which count to no limit until they are mapped. Default `true`. */
  readonly memoryFiles?: boolean;
}

/** The numbers of one system call. Absent if an architecture does not have the call. */
interface CallNumbers {
  readonly x64?: number;
  readonly arm64?: number;
}
type Architecture = keyof CallNumbers;

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** Calls of the x32 ABI have this bit set: the same calls under other numbers. */
const X32_BIT = 0x40000000;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;

// Classic BPF, as in <linux/bpf_common.h>.
const LOAD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER = 0x25;
const JUMP_GREATER_OR_EQUAL = 0x35;
const JUMP_SET = 0x45;
const RETURN = 0x06;
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const INSTRUCTION_BYTES = 8;

/** The same number on both architectures: all calls added since Linux 5.1. */
const both = (number: number): CallNumbers => ({ x64: number, arm64: number });

/** Calls that always fail with EPERM. */
const DENIED: Readonly<Record<string, CallNumbers>> = {
  // Another view of the file system would expose hidden paths and bypass read-only ones.
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  setns: { x64: 308, arm64: 268 },
  open_tree: both(428),
  move_mount: both(429),
  fsopen: both(430),
  fsconfig: both(431),
  fsmount: both(432),
  fspick: both(433),
  mount_setattr: both(442),
  open_tree_attr: both(467),
  open_by_handle_at: { x64: 304, arm64: 265 },
  // io_uring creates sockets without the calls that are filtered here.
  io_uring_setup: both(425),
  io_uring_enter: both(426),
  io_uring_register: both(427),
  // Key rings are shared with the user's other sessions.
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  // Large parts of the kernel that builds and tests do not need and that many exploits use.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  fanotify_init: { x64: 300, arm64: 262 },
  lookup_dcookie: { x64: 212, arm64: 18 },
  syslog: { x64: 103, arm64: 116 },
  // Calls that affect the whole machine.
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  reboot: { x64: 169, arm64: 142 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  acct: { x64: 163, arm64: 89 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: both(443),
  iopl: { x64: 172 },
  ioperm: { x64: 173 },
};

const CLONE3 = both(435);
const OPENAT2 = both(437);
/** Calls that set a file's mode, with the index of the argument. */
const MODE_CALLS: readonly (readonly [CallNumbers, number])[] = [
  [{ x64: 90 }, 1], // chmod
  [{ x64: 91, arm64: 52 }, 1], // fchmod
  [{ x64: 268, arm64: 53 }, 2], // fchmodat
  [both(452), 2], // fchmodat2
  [{ x64: 85 }, 1], // creat
  [{ x64: 133 }, 1], // mknod
  [{ x64: 259, arm64: 33 }, 2], // mknodat
];
/** Calls that open a file, with the index of their flags; the mode argument follows, and applies only to a new file. */
const OPEN_CALLS: readonly (readonly [CallNumbers, number])[] = [
  [{ x64: 2 }, 1], // open
  [{ x64: 257, arm64: 56 }, 2], // openat
];
const CLONE = { x64: 56, arm64: 220 };
/** fork and vfork; arm64 has only clone. */
const FORKS: readonly CallNumbers[] = [{ x64: 57 }, { x64: 58 }];
/** CLONE_THREAD: without it, clone starts a process. */
const THREAD = 0x10000;
const UNSHARE = { x64: 272, arm64: 97 };
const MEMORY_FILES: readonly CallNumbers[] = [{ x64: 319, arm64: 279 }, both(447)]; // memfd_create, memfd_secret
const IOCTL = { x64: 16, arm64: 29 };
const SOCKET = { x64: 41, arm64: 198 };
const SOCKETPAIR = { x64: 53, arm64: 199 };
const SHMGET = { x64: 29, arm64: 194 };
const SEMGET = { x64: 64, arm64: 190 };
const MSGGET = { x64: 68, arm64: 186 };

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACE = 0x7e020000;
/** The setuid bit: such a file runs with the rights of its owner, also for other users of the machine. */
const SET_USER_ID = 0o4000;
/** O_CREAT, and the part of O_TMPFILE besides O_DIRECTORY. */
const CREATES = 0o100 | 0o20000000;
/** TIOCSTI injects input into a terminal, TIOCLINUX pastes into a console. */
const TERMINAL_INPUT = [0x5412, 0x541c];
const AF_UNIX = 1;
/**
 * AF_INET, AF_INET6, AF_NETLINK (which lists network interfaces). AF_VSOCK, which reaches the host of a VM, is
 * excluded.
 */
const NETWORK_FAMILIES = [2, 10, 16];
const SOCKET_TYPE_MASK = 0xf;
/** SOCK_STREAM and SOCK_SEQPACKET: such a pair stays connected. A datagram socket of a pair can send to any address. */
const PAIR_TYPES = [1, 5];
/**
 * Memory limits do not count System V shared memory that no process has attached. 4096 segments of this size are 16 MB.
 */
const MAX_SEGMENT_BYTES = 4096;
/** Memory limits do not count System V semaphores either, of 64 bytes each. 32,000 sets of this size are 70 MB. */
const MAX_SEMAPHORES = 32;

type Instruction = readonly [code: number, onTrue: number, onFalse: number, value: number];

const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
const answer = (value: number): Instruction => [RETURN, 0, 0, value];
const fail = (errno: number): Instruction => answer(FAIL | errno);
/** The lower half of an argument; both architectures are little-endian. The kernel ignores the upper half of an `int`. */
const loadArgument = (index: number): Instruction => load(16 + 8 * index);
const loadUpperHalf = (index: number): Instruction => load(20 + 8 * index);

/** Runs `body`, which ends in a return, if the loaded call number is this one. */
function onCall(number: number | undefined, body: readonly Instruction[]): Instruction[] {
  return number === undefined ? [] : [[JUMP_EQUAL, 0, body.length, number], ...body];
}

/** Allows the loaded value if it is one of `values`; otherwise the call fails. */
function allowOnly(values: readonly number[]): Instruction[] {
  const tests = values.map((value, index): Instruction => [JUMP_EQUAL, values.length - index, 0, value]);
  return [...tests, fail(EPERM), answer(ALLOW)];
}

/** Fails the call if the test of the loaded value is true. */
function failIf(code: number, value: number): Instruction[] {
  return [[code, 0, 1, value], fail(EPERM)];
}

function filter(
  architecture: Architecture,
  { unixSockets, sockets = true, processes = true, memoryFiles = true }: SeccompOptions,
): Instruction[] {
  const families = !sockets ? [] : unixSockets ? [AF_UNIX, ...NETWORK_FAMILIES] : NETWORK_FAMILIES;
  return [
    load(ARCHITECTURE_OFFSET),
    // Another architecture (32-bit programs) uses other numbers for the same calls.
    [JUMP_EQUAL, 1, 0, AUDIT_ARCH[architecture]],
    answer(KILL_PROCESS),
    load(NUMBER_OFFSET),
    ...(architecture === "x64"
      ? ([[JUMP_GREATER_OR_EQUAL, 0, 1, X32_BIT], fail(ENOSYS)] satisfies Instruction[])
      : []),
    ...Object.values(DENIED).flatMap((call) => onCall(call[architecture], [fail(EPERM)])),
    // Their flags are in memory, which a filter cannot read. Programs then fall back to clone and openat.
    ...[CLONE3, OPENAT2].flatMap((call) => onCall(call[architecture], [fail(ENOSYS)])),
    ...MODE_CALLS.flatMap(([call, mode]) =>
      onCall(call[architecture], [loadArgument(mode), ...failIf(JUMP_SET, SET_USER_ID), answer(ALLOW)]),
    ),
    ...OPEN_CALLS.flatMap(([call, flags]) =>
      onCall(call[architecture], [
        loadArgument(flags),
        [JUMP_SET, 1, 0, CREATES],
        answer(ALLOW),
        loadArgument(flags + 1),
        ...failIf(JUMP_SET, SET_USER_ID),
        answer(ALLOW),
      ]),
    ),
    ...(processes
      ? []
      : [
          ...FORKS.flatMap((call) => onCall(call[architecture], [fail(EPERM)])),
          ...onCall(CLONE[architecture], [
            loadArgument(0),
            ...failIf(JUMP_SET, NEW_NAMESPACE),
            [JUMP_SET, 1, 0, THREAD] satisfies Instruction,
            fail(EPERM),
            answer(ALLOW),
          ]),
        ]),
    ...(memoryFiles ? [] : MEMORY_FILES.flatMap((call) => onCall(call[architecture], [fail(EPERM)]))),
    ...[CLONE, UNSHARE].flatMap((call) =>
      onCall(call[architecture], [loadArgument(0), ...failIf(JUMP_SET, NEW_NAMESPACE), answer(ALLOW)]),
    ),
    ...onCall(IOCTL[architecture], [
      loadArgument(1),
      ...TERMINAL_INPUT.flatMap((request) => failIf(JUMP_EQUAL, request)),
      answer(ALLOW),
    ]),
    ...onCall(SOCKET[architecture], [loadArgument(0), ...allowOnly(families)]),
    ...(unixSockets
      ? []
      : onCall(SOCKETPAIR[architecture], [
          loadArgument(1),
          [AND, 0, 0, SOCKET_TYPE_MASK],
          ...allowOnly(PAIR_TYPES),
        ])),
    // 32,000 queues hold 512 MB that no memory limit counts, and a filter cannot count them.
    ...onCall(MSGGET[architecture], [fail(ENOSYS)]),
    ...onCall(SEMGET[architecture], [
      loadArgument(1),
      ...failIf(JUMP_GREATER, MAX_SEMAPHORES),
      answer(ALLOW),
    ]),
    ...onCall(SHMGET[architecture], [
      loadUpperHalf(1),
      ...failIf(JUMP_GREATER, 0),
      loadArgument(1),
      ...failIf(JUMP_GREATER, MAX_SEGMENT_BYTES),
      answer(ALLOW),
    ]),
    answer(ALLOW),
  ];
}

/** The filter in the format of bubblewrap's `--seccomp`; `undefined` on an architecture without a table here. */
export function seccompFilter(
  options: SeccompOptions,
  architecture: string = process.arch,
): Uint8Array | undefined {
  if (architecture !== "x64" && architecture !== "arm64") return undefined;
  const instructions = filter(architecture, options);
  const bytes = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  for (const [index, [code, onTrue, onFalse, value]] of instructions.entries()) {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(onTrue, at + 2);
    bytes.writeUInt8(onFalse, at + 3);
    bytes.writeUInt32LE(value, at + 4);
  }
  return bytes;
}
