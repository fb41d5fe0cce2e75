import type { WasmFunction } from "./assembler.js";

/** Where the DFA in use lies, behind the needle: for each byte its column, then the rows. */
export const COLUMNS_AT = 2048;
export const TABLE_AT = COLUMNS_AT + 256;

const NEWLINE = 10;
const STEPS_PER_ROUND = 8;

/** Leaves the row that follows $row when the byte on the stack is read. */
const nextRow = `
  i32.load8_u ${COLUMNS_AT}
  local.get $row
  i32.add
  i32.load16_u ${TABLE_AT}`;

const readByte = `
  local.get $p
  i32.load8_u
  ${nextRow}
  local.set $row`;

const isOutcome = `
  local.get $row
  local.get $lineStart
  i32.lt_u`;

const move = (bytes: number): string => `
  local.get $p
  i32.const ${bytes}
  i32.add
  local.set $p`;

/** Leaves twice $p, plus one if $row is the third row: the line may match. */
const answer = `
  local.get $p
  i32.const 1
  i32.shl
  local.get $row
  local.get $rowBytes
  i32.gt_u
  i32.add`;

/** Moves to the first line break from $p on, or some way behind the end. */
const toNewline = `
  block $found
    loop $sixteen
      local.get $p
      v128.load
      i32.const ${NEWLINE}
      i8x16.splat
      i8x16.eq
      i8x16.bitmask
      local.tee $mask
      i32.eqz
      if
        ${move(16)}
        local.get $p
        local.get $end
        i32.lt_u
        br_if $sixteen
        br $found
      end
      local.get $p
      local.get $mask
      i32.ctz
      i32.add
      local.set $p
    end
  end`;

/**
 * Runs a DFA over the lines of [start, end). `lineStart` is its first row that is no outcome, `rowBytes` the size
 * of a row. Returns twice the address of the byte that showed that a line matches, plus one if it only may match; -1 if
 * there is no such line.
 */
export const decide: WasmFunction = {
  name: "decide",
  params: ["start", "end", "lineStart", "rowBytes"],
  locals: { p: "i32", row: "i32", mask: "i32" },
  body: `
  local.get $start
  local.set $p
  local.get $lineStart
  local.set $row
  block $done
    loop $next
      block $outcome
        block $few
          loop $round
            local.get $p
            i32.const ${STEPS_PER_ROUND}
            i32.add
            local.get $end
            i32.gt_u
            br_if $few
            ${`${readByte}${isOutcome}\nbr_if $outcome${move(1)}`.repeat(STEPS_PER_ROUND)}
            br $round
          end
        end
        loop $one                 ;; fewer than a round are left
          local.get $p
          local.get $end
          i32.ge_u
          br_if $done
          ${readByte}
          ${isOutcome}
          br_if $outcome
          ${move(1)}
          br $one
        end
      end
      local.get $row
      if
        ${answer}
        return
      end
      ${toNewline}
      ${move(1)}                  ;; this line does not match: on with the next one
      local.get $lineStart
      local.set $row
      local.get $p
      local.get $end
      i32.lt_u
      br_if $next
    end
  end
  local.get $row
  local.get $lineStart
  i32.eq
  if
    i32.const -1
    return
  end
  i32.const ${NEWLINE}            ;; the last line has no line break, but it ends all the same
  ${nextRow}
  local.get $rowBytes
  i32.eq
  if
    local.get $end
    i32.const 1
    i32.shl
    return
  end
  i32.const -1`,
};
