;; Runs a DFA over the lines of [start, end), up to the first line that matches or may match. Returns twice the address of
;; the byte that decided it, plus one if the line only may match; -1 if there is no such line.
;;
;; The table (dfa.ts builds it): at 2048 the column of each of the 256 bytes, at 2304 the rows, 16 bits a cell. A row is
;; known by its offset in bytes. Rows below $lineStart are outcomes: 0 is no match, $rowBytes is a match, the third one is
;; perhaps. Column and row are offsets, so that the next row is one addition and one load away.
(module
  (import "env" "memory" (memory 1))

  (func (export "decide")
    (param $start i32) (param $end i32) (param $lineStart i32) (param $rowBytes i32) (result i32)
    (local $p i32) (local $row i32) (local $mask i32)
    (local.set $p (local.get $start))
    (local.set $row (local.get $lineStart))
    (block $done
      (loop $next
        (block $outcome
          (block $few
            (loop $round
              (br_if $few (i32.gt_u (i32.add (local.get $p) (i32.const 8)) (local.get $end)))
              (local.set $row
                (i32.load16_u offset=2304 align=1
                  (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
              (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $row
                (i32.load16_u offset=2304 align=1
                  (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
              (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $row
                (i32.load16_u offset=2304 align=1
                  (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
              (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $row
                (i32.load16_u offset=2304 align=1
                  (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
              (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $row
                (i32.load16_u offset=2304 align=1
                  (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
              (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $row
                (i32.load16_u offset=2304 align=1
                  (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
              (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $row
                (i32.load16_u offset=2304 align=1
                  (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
              (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $row
                (i32.load16_u offset=2304 align=1
                  (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
              (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (br $round)))
          ;; Fewer bytes than a round are left.
          (loop $one
            (br_if $done (i32.ge_u (local.get $p) (local.get $end)))
            (local.set $row
              (i32.load16_u offset=2304 align=1
                (i32.add (i32.load8_u offset=2048 (i32.load8_u (local.get $p))) (local.get $row))))
            (br_if $outcome (i32.lt_u (local.get $row) (local.get $lineStart)))
            (local.set $p (i32.add (local.get $p) (i32.const 1)))
            (br $one)))
        (if (local.get $row)
          (then
            (return
              (i32.add
                (i32.shl (local.get $p) (i32.const 1))
                (i32.gt_u (local.get $row) (local.get $rowBytes))))))
        (block $found
          (loop $sixteen
            (if
              (i32.eqz
                (local.tee $mask
                  (i8x16.bitmask
                    (i8x16.eq (v128.load align=1 (local.get $p)) (i8x16.splat (i32.const 10))))))
              (then
                (local.set $p (i32.add (local.get $p) (i32.const 16)))
                (br_if $sixteen (i32.lt_u (local.get $p) (local.get $end)))
                (br $found)))
            (local.set $p (i32.add (local.get $p) (i32.ctz (local.get $mask))))))
        ;; This line does not match: continue with the next one.
        (local.set $p (i32.add (local.get $p) (i32.const 1)))
        (local.set $row (local.get $lineStart))
        (br_if $next (i32.lt_u (local.get $p) (local.get $end)))))
    (if (i32.eq (local.get $row) (local.get $lineStart))
      (then
        (return (i32.const -1))))
    ;; The last line has no line break: read one, to learn whether it matches at its end.
    (if
      (i32.eq
        (i32.load16_u offset=2304 align=1
          (i32.add (i32.load8_u offset=2048 (i32.const 10)) (local.get $row)))
        (local.get $rowBytes))
      (then
        (return (i32.shl (local.get $end) (i32.const 1)))))
    (i32.const -1)))
