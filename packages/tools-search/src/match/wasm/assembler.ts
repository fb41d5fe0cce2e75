/**
 * A small WebAssembly assembler: readable text in, module bytes out. It knows just what `program.ts` uses.
 * A function is a list of instructions, one a line, in the order of the text format; `$name` stands for a
 * parameter, a local or an enclosing block; `;;` starts a comment.
 */
export interface WasmFunction {
  readonly name: string;
  readonly params: readonly string[];
  /** Locals by name with their type. Every function takes i32 parameters and returns one i32. */
  readonly locals: Readonly<Record<string, ValueType>>;
  readonly body: string;
}

type ValueType = "i32" | "v128";

const TYPE_CODES: Readonly<Record<ValueType, number>> = { i32: 0x7f, v128: 0x7b };
const EMPTY_BLOCK = 0x40;
const SIMD_PREFIX = 0xfd;

/** Instructions without an operand. */
const PLAIN: Readonly<Record<string, number>> = {
  return: 0x0f,
  end: 0x0b,
  "i32.eqz": 0x45,
  "i32.eq": 0x46,
  "i32.ne": 0x47,
  "i32.lt_u": 0x49,
  "i32.gt_u": 0x4b,
  "i32.ge_u": 0x4f,
  "i32.clz": 0x67,
  "i32.ctz": 0x68,
  "i32.popcnt": 0x69,
  "i32.add": 0x6a,
  "i32.sub": 0x6b,
  "i32.and": 0x71,
  "i32.or": 0x72,
  "i32.xor": 0x73,
  "i32.shl": 0x74,
  "i32.shr_u": 0x76,
};
/** Instructions that name a block to leave or to repeat. */
const BRANCHES: Readonly<Record<string, number>> = { br: 0x0c, br_if: 0x0d };
/** Instructions that open a block, which gets the label after them. */
const BLOCKS: Readonly<Record<string, number>> = { block: 0x02, loop: 0x03, if: 0x04 };
/** Instructions that name a parameter or a local. */
const VARIABLES: Readonly<Record<string, number>> = {
  "local.get": 0x20,
  "local.set": 0x21,
  "local.tee": 0x22,
};
/** Vector instructions without an operand. */
const VECTOR: Readonly<Record<string, number>> = {
  "i8x16.swizzle": 0x0e,
  "i8x16.splat": 0x0f,
  "i8x16.eq": 0x23,
  "i8x16.ne": 0x24,
  "v128.and": 0x4e,
  "v128.or": 0x50,
  "v128.any_true": 0x53,
  "i8x16.bitmask": 0x64,
  "i8x16.shr_u": 0x6d,
  "i8x16.sub": 0x71,
  "i16x8.shr_u": 0x8d,
  "i16x8.extadd_pairwise_i8x16_u": 0x7d,
  "i32x4.extadd_pairwise_i16x8_u": 0x7f,
};

/** Assembles a module that imports `env.memory` and exports the functions by name. */
export function assemble(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ params }) => [
    0x60,
    ...vector(params.map(() => [TYPE_CODES.i32])),
    ...vector([[TYPE_CODES.i32]]),
  ]);
  const memoryImport = [...name("env"), ...name("memory"), 0x02, 0x00, ...unsigned(1)];
  const exports = functions.map((fn, index) => [...name(fn.name), 0x00, ...unsigned(index)]);
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, vector(types)),
    ...section(2, vector([memoryImport])),
    ...section(3, vector(functions.map((_, index) => unsigned(index)))),
    ...section(7, vector(exports)),
    ...section(10, vector(functions.map(code))),
  ]);
}

function code(fn: WasmFunction): number[] {
  const locals = Object.entries(fn.locals);
  const declared = vector(locals.map(([, type]) => [...unsigned(1), TYPE_CODES[type]]));
  const names = [...fn.params, ...locals.map(([local]) => local)];
  const labels: string[] = [];
  const instructions = fn.body.split("\n").flatMap((line) => {
    const [word = "", operand = ""] = line.replace(/;;.*/, "").trim().split(/\s+/);
    if (word === "") return [];
    if (word === "end") labels.pop();
    const block = BLOCKS[word];
    if (block !== undefined) {
      labels.push(operand);
      return [block, EMPTY_BLOCK];
    }
    return instruction(word, operand, names, labels);
  });
  const body = [...declared, ...instructions, PLAIN.end ?? 0];
  return [...unsigned(body.length), ...body];
}

function instruction(
  word: string,
  operand: string,
  names: readonly string[],
  labels: readonly string[],
): number[] {
  const plain = PLAIN[word];
  if (plain !== undefined) return [plain];
  const vectorCode = VECTOR[word];
  if (vectorCode !== undefined) return [SIMD_PREFIX, ...unsigned(vectorCode)];
  const variable = VARIABLES[word];
  if (variable !== undefined) return [variable, ...unsigned(position(names, operand.slice(1)))];
  const branch = BRANCHES[word];
  if (branch !== undefined) return [branch, ...unsigned(labels.length - 1 - position(labels, operand))];
  // Loads and stores take an alignment hint (none) and a constant offset.
  if (word === "i32.load8_u") return [0x2d, 0, ...unsigned(Number(operand || 0))];
  if (word === "i32.load16_u") return [0x2f, 0, ...unsigned(Number(operand || 0))];
  if (word === "v128.store") return [SIMD_PREFIX, 0x0b, 0, ...unsigned(Number(operand || 0))];
  if (word === "v128.load") return [SIMD_PREFIX, 0x00, 0, ...unsigned(Number(operand || 0))];
  if (word === "i32x4.extract_lane") return [SIMD_PREFIX, 0x1b, Number(operand)];
  if (word === "i32.const") return [0x41, ...signed(Number(operand))];
  throw new Error(`The assembler does not know ${word}.`);
}

function position(names: readonly string[], wanted: string): number {
  const index = names.lastIndexOf(wanted);
  if (index === -1) throw new Error(`The assembler found no ${wanted}.`);
  return index;
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function vector(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function name(text: string): number[] {
  return vector([...Buffer.from(text)].map((byte) => [byte]));
}

/** LEB128, the variable-length numbers of the format. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const signBit = (low & 0x40) !== 0;
  const done = (rest === 0 && !signBit) || (rest === -1 && signBit);
  return done ? [low] : [low | 0x80, ...signed(rest)];
}
