import { FOUND_AT, HALVES_AT, STARTS_AT } from "../needles/needleSet.js";
import type { WasmFunction } from "./assembler.js";

/** Where the table of the needles in use lies: in a page of its own. */
export const SET_AT = 65_536;

const loadHalves = (place: number): string => `
  i32.const ${SET_AT + HALVES_AT + place * 32}
  v128.load
  local.set $low${place}
  i32.const ${SET_AT + HALVES_AT + place * 32 + 16}
  v128.load
  local.set $high${place}`;

/** Leaves for 16 places, as bits, the buckets with a needle that has the byte `place` of its fingerprint there. */
const bucketsBy = (place: number, offset: number): string => `
  local.get $low${place}
  local.get $p
  local.get $off${place}
  i32.add
  v128.load ${offset}
  local.tee $text
  local.get $half
  v128.and
  i8x16.swizzle
  local.get $high${place}
  local.get $text
  i32.const 4
  i16x8.shr_u                     ;; there is no quick one for bytes: the mask removes what comes from the next
  local.get $half
  v128.and
  i8x16.swizzle
  v128.and`;

/** The same by all bytes of the fingerprint: where anything is left, a needle of that bucket may begin. */
const buckets = (places: readonly number[], offset: number): string =>
  places.map((place) => bucketsBy(place, offset) + (place > 0 ? "\nv128.and" : "")).join("\n");

/** Puts the buckets of 16 places where those of one can be read. */
const keep = (which: 0 | 1): string => `
  i32.const ${SET_AT + FOUND_AT + which * 16}
  local.get $found${which}
  v128.store`;

/** Leaves a mask of 16 bits: the places that have any buckets. */
const maskOf = (which: 0 | 1): string => `
  local.get $found${which}
  i32.const 0
  i8x16.splat
  i8x16.ne
  i8x16.bitmask`;

const move = `
  local.get $p
  i32.const 32
  i32.add
  local.set $p`;

/** Clears the lowest bit. */
const clearLowest = (bits: string): string => `
  local.get $${bits}
  local.get $${bits}
  i32.const 1
  i32.sub
  i32.and
  local.set $${bits}`;

/** Returns $at if the needle at $entry, of $length bytes, is there. */
const compare = `
  block $differs
    local.get $end                ;; does it fit in?
    local.get $at
    i32.sub
    local.get $length
    i32.lt_u
    br_if $differs
    i32.const 0
    local.set $i
    loop $same
      local.get $at
      local.get $i
      i32.add
      i32.load8_u
      local.get $entry
      local.get $i
      i32.add
      local.tee $byte
      local.get $length
      i32.add
      i32.load8_u 2               ;; the fold
      i32.or
      local.get $byte
      i32.load8_u 2
      i32.ne
      br_if $differs
      local.get $i
      i32.const 1
      i32.add
      local.tee $i
      local.get $length
      i32.lt_u
      br_if $same
    end
    local.get $at
    return
  end`;

/**
 * Finds the first of several needles in [start, end), with their table at `SET_AT`. `offset` says where in the needles
 * their fingerprints are, `shortest` how long the shortest is. Returns the address where it begins, or -1.
 *
 * The needles are in 8 buckets. Two looks into a table tell for a byte of the text in which buckets it is part of a
 * fingerprint, for 16 places at once; ripgrep knows this as "Teddy". Only needles of those buckets are compared.
 */
const many = (name: string, places: readonly number[]): WasmFunction => ({
  name,
  params: ["start", "end", "shortest", "off0", "off1", "off2"],
  locals: {
    p: "i32",
    last: "i32",
    mask: "i32",
    at: "i32",
    bits: "i32",
    entry: "i32",
    length: "i32",
    i: "i32",
    byte: "i32",
    half: "v128",
    text: "v128",
    found0: "v128",
    found1: "v128",
    ...Object.fromEntries(
      places.flatMap((place) => [
        [`low${place}`, "v128" as const],
        [`high${place}`, "v128" as const],
      ]),
    ),
  },
  body: `
  local.get $end                  ;; too short to hold any?
  local.get $start
  i32.sub
  local.get $shortest
  i32.lt_u
  if
    i32.const -1
    return
  end
  local.get $end
  local.get $shortest
  i32.sub
  local.set $last                 ;; the last place where a match can begin
  i32.const 15
  i8x16.splat
  local.set $half
  ${places.map(loadHalves).join("\n")}
  local.get $start
  local.set $p
  block $done
    loop $next
      local.get $p
      local.get $last
      i32.gt_u
      br_if $done
      ${buckets(places, 0)}               ;; 32 places a round
      local.tee $found0
      ${buckets(places, 16)}
      local.tee $found1
      v128.or
      v128.any_true
      i32.eqz
      if
        ${move}
        br $next
      end
      ${keep(0)}
      ${keep(1)}
      ${maskOf(0)}
      ${maskOf(1)}
      i32.const 16
      i32.shl
      i32.or
      local.set $mask
      loop $candidate         ;; one bit of the mask is one place to look at
        local.get $p
        local.get $mask
        i32.ctz
        i32.add
        local.tee $at
        local.get $last
        i32.gt_u
        br_if $done
        local.get $mask
        i32.ctz
        i32.load8_u ${SET_AT + FOUND_AT}
        local.set $bits
        loop $bucket          ;; one bit of these is one bucket
          local.get $bits
          i32.ctz
          i32.const 1
          i32.shl
          i32.load16_u ${SET_AT + STARTS_AT}
          i32.const ${SET_AT}
          i32.add
          local.set $entry
          block $ended
            loop $needle
              local.get $entry
              i32.load16_u
              local.tee $length
              i32.eqz
              br_if $ended
              ${compare}
              local.get $length
              i32.const 1
              i32.shl
              i32.const 2
              i32.add
              local.get $entry
              i32.add
              local.set $entry
              br $needle
            end
          end
          ${clearLowest("bits")}
          local.get $bits
          br_if $bucket
        end
        ${clearLowest("mask")}
        local.get $mask
        br_if $candidate
      end
      ${move}
      br $next
    end
  end
  i32.const -1`,
});

/** A byte less to look at is quicker where the others are rare enough. */
export const MANY: readonly WasmFunction[] = [many("many2", [0, 1]), many("many3", [0, 1, 2])];
