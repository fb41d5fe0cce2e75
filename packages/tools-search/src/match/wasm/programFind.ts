import type { WasmFunction } from "./assembler.js";

/** How a needle is compared: which vectors are needed, how 16 places are probed, how one place is looked at. */
interface Comparison {
  readonly setUp: (which: 1 | 2) => string;
  /** Leaves all bits set where the chosen byte of the needle is where it belongs. */
  readonly probe: (which: 1 | 2, offset: number) => string;
  /** Leaves 0 if the byte $i at $at is what the needle wants. */
  readonly differs: string;
}

const textAt = (which: 1 | 2, offset: number): string => `
  local.get $p
  local.get $off${which}
  i32.add
  v128.load ${offset}`;

const byteAt = (base: string, offset: string): string => `
  local.get $${base}
  local.get $${offset}
  i32.add
  i32.load8_u`;

const exactly: Comparison = {
  setUp: (which) => `
    ${byteAt("needle", `off${which}`)}
    i8x16.splat
    local.set $want${which}`,
  probe: (which, offset) => `
    ${textAt(which, offset)}
    local.get $want${which}
    i8x16.eq`,
  differs: `
    ${byteAt("at", "i")}
    ${byteAt("needle", "i")}
    i32.ne`,
};

/** A byte of the text matches if `text | fold == needle`: a fold of 0x20 ignores the case of a letter. */
const folded: Comparison = {
  setUp: (which) => `
    ${exactly.setUp(which)}
    ${byteAt("folds", `off${which}`)}
    i8x16.splat
    local.set $fold${which}`,
  probe: (which, offset) => `
    ${textAt(which, offset)}
    local.get $fold${which}
    v128.or
    local.get $want${which}
    i8x16.eq`,
  differs: `
    ${byteAt("at", "i")}
    ${byteAt("folds", "i")}
    i32.or
    ${byteAt("needle", "i")}
    i32.ne`,
};

/** 16 bytes of the needle are one class: the lower half of a byte picks the upper halves that belong to it. */
const inClasses: Comparison = {
  setUp: (which) => `
    local.get $needle
    local.get $off${which}
    i32.const 4
    i32.shl
    i32.add
    v128.load
    local.set $want${which}
    local.get $folds
    v128.load
    local.set $fold${which}`,
  probe: (which, offset) => `
    local.get $want${which}
    ${textAt(which, offset)}
    local.tee $text
    i32.const 15
    i8x16.splat
    v128.and
    i8x16.swizzle
    local.get $fold${which}
    local.get $text
    i32.const 4
    i8x16.shr_u
    i8x16.swizzle
    v128.and
    i32.const 0
    i8x16.splat
    i8x16.ne`,
  differs: `
    ${byteAt("at", "i")}
    local.tee $byte
    i32.const 15
    i32.and
    local.get $i
    i32.const 4
    i32.shl
    i32.add
    local.get $needle
    i32.add
    i32.load8_u
    local.get $byte
    i32.const 4
    i32.shr_u
    local.get $folds
    i32.add
    i32.load8_u
    i32.and
    i32.eqz`,
};

/** Both chosen bytes at 16 places at once. */
const probe = (comparison: Comparison, offset: number): string => `
  ${comparison.probe(1, offset)}
  ${comparison.probe(2, offset)}
  v128.and`;

/**
 * Finds the needle in [start, end). `needle` and `folds` are the addresses of its bytes and folds, `length` is how
 * many bytes of text it covers, `off1` and `off2` are the places of its two rarest. Returns the address, or -1.
 */
const finder = (name: string, comparison: Comparison): WasmFunction => ({
  name,
  params: ["start", "end", "needle", "folds", "length", "off1", "off2"],
  locals: {
    p: "i32",
    stop: "i32",
    last: "i32",
    mask: "i32",
    at: "i32",
    i: "i32",
    byte: "i32",
    want1: "v128",
    want2: "v128",
    fold1: "v128",
    fold2: "v128",
    text: "v128",
  },
  body: `
  local.get $end                  ;; too short to hold the needle?
  local.get $start
  i32.sub
  local.get $length
  i32.lt_u
  if
    i32.const -1
    return
  end
  local.get $end
  local.get $length
  i32.sub
  local.set $last                 ;; the last place where a match can begin
  ${comparison.setUp(1)}
  ${comparison.setUp(2)}
  local.get $start
  local.set $p
  block $done
    loop $next
      local.get $p
      local.get $last
      i32.gt_u
      br_if $done
      ${probe(comparison, 0)}                 ;; 64 bytes a round as long as no candidate turns up
      ${probe(comparison, 16)}
      v128.or
      ${probe(comparison, 32)}
      v128.or
      ${probe(comparison, 48)}
      v128.or
      v128.any_true
      i32.eqz
      if
        local.get $p
        i32.const 64
        i32.add
        local.set $p
        br $next
      end
      local.get $p
      i32.const 64
      i32.add
      local.set $stop
      loop $sixteen
        ${probe(comparison, 0)}
        i8x16.bitmask
        local.set $mask
        block $none
          loop $candidate         ;; one bit of the mask is one place to look at
            local.get $mask
            i32.eqz
            br_if $none
            local.get $p
            local.get $mask
            i32.ctz
            i32.add
            local.tee $at
            local.get $last
            i32.gt_u
            br_if $done
            i32.const 0
            local.set $i
            block $differs
              loop $compare
                local.get $i
                local.get $length
                i32.eq
                if
                  local.get $at
                  return
                end
                ${comparison.differs}
                br_if $differs
                local.get $i
                i32.const 1
                i32.add
                local.set $i
                br $compare
              end
            end
            local.get $mask       ;; clears the lowest bit
            local.get $mask
            i32.const 1
            i32.sub
            i32.and
            local.set $mask
            br $candidate
          end
        end
        local.get $p
        i32.const 16
        i32.add
        local.tee $p
        local.get $stop
        i32.lt_u
        br_if $sixteen
      end
      br $next
    end
  end
  i32.const -1`,
});

/** One function for each kind of needle: a comparison that does less is faster. */
export const FINDERS: readonly WasmFunction[] = [
  finder("text", exactly),
  finder("folded", folded),
  finder("classes", inClasses),
];
