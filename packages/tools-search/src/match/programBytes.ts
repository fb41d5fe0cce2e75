import type { WasmFunction } from "./assembler.js";

/** Leaves the mask of the places among the 16 at $p + offset that hold $byte. */
const byteMask = (offset = 0): string => `
  local.get $p
  v128.load ${offset}
  local.get $wanted
  i8x16.eq
  i8x16.bitmask`;

const splatByte = `
  local.get $byte
  i8x16.splat
  local.set $wanted`;

const countMask = (offset: number): string => `
  ${byteMask(offset)}
  i32.popcnt
  local.get $total
  i32.add
  local.set $total`;

/** How often `byte` occurs in [start, end). */
export const count: WasmFunction = {
  name: "count",
  params: ["start", "end", "byte"],
  locals: { p: "i32", total: "i32", mask: "i32", wanted: "v128" },
  body: `
  ${splatByte}
  local.get $start
  local.set $p
  block $few
    loop $many                    ;; 64 bytes a round
      local.get $end
      local.get $p
      i32.sub
      i32.const 64
      i32.lt_u
      br_if $few
      ${[0, 16, 32, 48].map(countMask).join("")}
      local.get $p
      i32.const 64
      i32.add
      local.set $p
      br $many
    end
  end
  block $done
    loop $next
      local.get $p
      local.get $end
      i32.ge_u
      br_if $done
      ${byteMask()}
      local.set $mask
      local.get $end              ;; the last block: only the bits before the end count
      local.get $p
      i32.sub
      i32.const 16
      i32.lt_u
      if
        local.get $mask
        i32.const 1
        local.get $end
        local.get $p
        i32.sub
        i32.shl
        i32.const 1
        i32.sub
        i32.and
        local.set $mask
      end
      local.get $total
      local.get $mask
      i32.popcnt
      i32.add
      local.set $total
      local.get $p
      i32.const 16
      i32.add
      local.set $p
      br $next
    end
  end
  local.get $total`,
};

/** The address of the first `byte` in [start, end), or `end`. */
export const next: WasmFunction = {
  name: "next",
  params: ["start", "end", "byte"],
  locals: { p: "i32", mask: "i32", wanted: "v128" },
  body: `
  ${splatByte}
  local.get $start
  local.set $p
  block $done
    loop $next
      local.get $p
      local.get $end
      i32.ge_u
      br_if $done
      ${byteMask()}
      local.tee $mask
      if
        local.get $p
        local.get $mask
        i32.ctz
        i32.add
        local.tee $p
        local.get $end
        i32.ge_u
        br_if $done
        local.get $p
        return
      end
      local.get $p
      i32.const 16
      i32.add
      local.set $p
      br $next
    end
  end
  local.get $end`,
};

/** The address of the last `byte` in [start, end), or -1. */
export const previous: WasmFunction = {
  name: "previous",
  params: ["start", "end", "byte"],
  locals: { p: "i32", mask: "i32", wanted: "v128" },
  body: `
  ${splatByte}
  local.get $end
  local.set $p
  block $few
    loop $next
      local.get $p
      local.get $start
      i32.sub
      i32.const 16
      i32.lt_u
      br_if $few
      local.get $p
      i32.const 16
      i32.sub
      local.set $p
      ${byteMask()}
      local.tee $mask
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
      local.get $p
      i32.const 1
      i32.sub
      local.tee $p
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
