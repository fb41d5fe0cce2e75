import type { WasmFunction } from "./assembler.js";

const BLOCK = 32;

/** Leaves a mask of 16 bits: which of the bytes at $p + offset belong to the class. See `inClasses` for how. */
const inClass = (offset: number): string => `
  local.get $class
  local.get $p
  v128.load ${offset}
  local.tee $text
  i32.const 15
  i8x16.splat
  v128.and
  i8x16.swizzle
  local.get $halves
  local.get $text
  i32.const 4
  i8x16.shr_u
  i8x16.swizzle
  v128.and
  i32.const 0
  i8x16.splat
  i8x16.ne
  i8x16.bitmask`;

const notMask = `
  local.get $mask
  i32.const -1
  i32.xor`;

/**
 * Finds `length` bytes of one class in a row, at most 32 of them, in [start, end). `needle` is the address of the class,
 * `folds` that of the upper halves. Returns the address, or -1.
 */
export const run: WasmFunction = {
  name: "run",
  params: ["start", "end", "needle", "folds", "length"],
  locals: {
    p: "i32",
    mask: "i32",
    open: "i32",
    runs: "i32",
    reach: "i32",
    step: "i32",
    class: "v128",
    halves: "v128",
    text: "v128",
  },
  body: `
  local.get $needle
  v128.load
  local.set $class
  local.get $folds
  v128.load
  local.set $halves
  local.get $start
  local.set $p
  block $done
    loop $next
      local.get $p
      local.get $end
      i32.ge_u
      br_if $done
      ${inClass(0)}
      ${inClass(16)}
      i32.const 16
      i32.shl
      i32.or
      local.set $mask             ;; one bit for each of the ${BLOCK} bytes
      local.get $end
      local.get $p
      i32.sub
      local.tee $step
      i32.const ${BLOCK}
      i32.lt_u
      if                          ;; what lies behind the end does not count
        local.get $mask
        i32.const 1
        local.get $step
        i32.shl
        i32.const 1
        i32.sub
        i32.and
        local.set $mask
      end
      local.get $open             ;; a run that was open at the end of the last block goes on
      ${notMask}
      i32.ctz
      i32.add
      local.get $length
      i32.ge_u
      if
        local.get $p
        local.get $open
        i32.sub
        return
      end
      local.get $mask             ;; a bit of $runs stays if as many as $reach are set from it on
      local.set $runs
      i32.const 1
      local.set $reach
      block $complete
        loop $longer
          local.get $length
          local.get $reach
          i32.sub
          local.tee $step
          i32.eqz
          br_if $complete
          local.get $step         ;; at most twice as long
          local.get $reach
          i32.gt_u
          if
            local.get $reach
            local.set $step
          end
          local.get $runs
          local.get $runs
          local.get $step
          i32.shr_u
          i32.and
          local.set $runs
          local.get $reach
          local.get $step
          i32.add
          local.set $reach
          br $longer
        end
      end
      local.get $runs
      if
        local.get $p
        local.get $runs
        i32.ctz
        i32.add
        return
      end
      local.get $mask             ;; only if all of the block belongs to it an earlier run is still open
      i32.const -1
      i32.ne
      if
        i32.const 0
        local.set $open
      end
      local.get $open
      ${notMask}
      i32.clz
      i32.add
      local.set $open
      local.get $p
      i32.const ${BLOCK}
      i32.add
      local.set $p
      br $next
    end
  end
  i32.const -1`,
};
