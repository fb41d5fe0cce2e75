import type { WasmFunction } from "./assembler.js";

/** A round of `count` covers this many bytes; a counter of 8 bits must not overflow in it. */
const ROUND_BYTES = 1024;

const PARAMS = ["start", "end", "byte"];

/** Leaves a vector with all bits set at the places among the 16 at $p + offset that hold $byte. */
const sameAs = (offset = 0): string => `
  local.get $p
  v128.load ${offset}
  local.get $wanted
  i8x16.eq`;

/** The same as a mask of 16 bits, kept in $mask and left on the stack. */
const byteMask = `
  ${sameAs()}
  i8x16.bitmask
  local.tee $mask`;

/** Begins at one of the ends, with $wanted ready. */
const startAt = (end: "start" | "end"): string => `
  local.get $byte
  i8x16.splat
  local.set $wanted
  local.get $${end}
  local.set $p`;

const move = (bytes: number): string => `
  local.get $p
  i32.const ${bytes}
  i32.add
  local.set $p`;

const bytesLeft = `
  local.get $end
  local.get $p
  i32.sub`;

const leaveAtEnd = `
  local.get $p
  local.get $end
  i32.ge_u
  br_if $done`;

/** "All bits set" is -1: to subtract it adds one. */
const countOne = (offset: number): string => `
  local.get $counts
  ${sameAs(offset)}
  i8x16.sub
  local.set $counts`;

const addToTotal = `
  local.get $total
  i32.add
  local.set $total`;

/** How often `byte` occurs in [start, end). */
export const count: WasmFunction = {
  name: "count",
  params: PARAMS,
  locals: { p: "i32", stop: "i32", total: "i32", mask: "i32", wanted: "v128", counts: "v128" },
  body: `
  ${startAt("start")}
  block $few
    loop $round                   ;; 16 counters side by side, added up at the end of a round
      ${bytesLeft}
      i32.const ${ROUND_BYTES}
      i32.lt_u
      br_if $few
      local.get $p
      i32.const ${ROUND_BYTES}
      i32.add
      local.set $stop
      i32.const 0
      i8x16.splat
      local.set $counts
      loop $many
        ${[0, 16, 32, 48].map(countOne).join("")}
        ${move(64)}
        local.get $p
        local.get $stop
        i32.lt_u
        br_if $many
      end
      local.get $counts
      i16x8.extadd_pairwise_i8x16_u
      i32x4.extadd_pairwise_i16x8_u
      local.set $counts
      ${[0, 1, 2, 3].map((executor) => `local.get $counts\ni32x4.extract_lane ${executor}\n${addToTotal}`).join("\n")}
      br $round
    end
  end
  block $done
    loop $next
      ${leaveAtEnd}
      ${byteMask}
      i32.popcnt
      ${addToTotal}
      ${move(16)}
      br $next
    end
  end
  local.get $p                    ;; what was counted behind the end does not count
  local.get $end
  i32.sub
  local.tee $stop
  if
    local.get $total
    local.get $mask
    i32.const 16
    local.get $stop
    i32.sub
    i32.shr_u
    i32.popcnt
    i32.sub
    local.set $total
  end
  local.get $total`,
};

/** The address of the first `byte` in [start, end), or `end`. */
export const next: WasmFunction = {
  name: "next",
  params: PARAMS,
  locals: { p: "i32", mask: "i32", wanted: "v128" },
  body: `
  ${startAt("start")}
  block $done
    loop $next
      ${leaveAtEnd}
      ${byteMask}
      if
        local.get $p
        local.get $mask
        i32.ctz
        i32.add
        local.set $p
        ${leaveAtEnd}
        local.get $p
        return
      end
      ${move(16)}
      br $next
    end
  end
  local.get $end`,
};

/** The address of the last `byte` in [start, end), or -1. */
export const previous: WasmFunction = {
  name: "previous",
  params: PARAMS,
  locals: { p: "i32", mask: "i32", wanted: "v128" },
  body: `
  ${startAt("end")}
  block $few
    loop $next
      local.get $p
      local.get $start
      i32.sub
      i32.const 16
      i32.lt_u
      br_if $few
      ${move(-16)}
      ${byteMask}
      i32.eqz
      br_if $next
      local.get $p
      i32.const 31
      i32.add
      local.get $mask
      i32.clz
      i32.sub
      return
    end
  end
  block $done                     ;; fewer than 16 are left: one by one
    loop $one
      local.get $p
      local.get $start
      i32.eq
      br_if $done
      ${move(-1)}
      local.get $p
      i32.load8_u
      local.get $byte
      i32.ne
      br_if $one
      local.get $p
      return
    end
  end
  i32.const -1`,
};
