import type { WasmFunction } from "./assembler.js";

/** Compares 16 places with one of the two chosen bytes of the needle. */
const probeOne = (which: 1 | 2, offset: number, folded: boolean): string => `
  local.get $p
  local.get $off${which}
  i32.add
  v128.load ${offset}
  ${folded ? `local.get $fold${which}\nv128.or` : ""}
  local.get $byte${which}
  i8x16.eq`;

/** Compares 16 places at once: both chosen bytes must be where they belong. */
const probe = (offset: number, folded: boolean): string => `
  ${probeOne(1, offset, folded)}
  ${probeOne(2, offset, folded)}
  v128.and`;

const splatFrom = (base: string, offset: string, into: string): string => `
  local.get $${base}
  local.get $${offset}
  i32.add
  i32.load8_u
  i8x16.splat
  local.set $${into}`;

/**
 * Finds the needle in [start, end). `needle` and `folds` are addresses of `length` bytes each: a byte of the
 * text matches if `text | fold == needle`, so a fold of 0x20 ignores the case of a letter and 0 does not.
 * `off1` and `off2` are the places of its two rarest bytes. Returns the address, or -1.
 */
const finder = (name: string, folded: boolean): WasmFunction => ({
  name,
  params: ["start", "end", "needle", "folds", "length", "off1", "off2"],
  locals: {
    p: "i32",
    stop: "i32",
    last: "i32",
    mask: "i32",
    at: "i32",
    i: "i32",
    byte1: "v128",
    byte2: "v128",
    fold1: "v128",
    fold2: "v128",
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
  ${splatFrom("needle", "off1", "byte1")}
  ${splatFrom("needle", "off2", "byte2")}
  ${splatFrom("folds", "off1", "fold1")}
  ${splatFrom("folds", "off2", "fold2")}
  local.get $start
  local.set $p
  block $done
    loop $next
      local.get $p
      local.get $last
      i32.gt_u
      br_if $done
      ${probe(0, folded)}                 ;; 64 bytes a round as long as no candidate turns up
      ${probe(16, folded)}
      v128.or
      ${probe(32, folded)}
      v128.or
      ${probe(48, folded)}
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
        ${probe(0, folded)}
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
                local.get $at
                local.get $i
                i32.add
                i32.load8_u
                local.get $folds
                local.get $i
                i32.add
                i32.load8_u
                i32.or
                local.get $needle
                local.get $i
                i32.add
                i32.load8_u
                i32.ne
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

export const find = finder("find", false);
/** The same for a needle with folds. Two more instructions for each 16 bytes, so it is one of its own. */
export const findFolded = finder("findFolded", true);
