;; As findMany2.wat, with fingerprints of three bytes: slower a round, but faster where two bytes occur often.
(module
  (import "env" "memory" (memory 1))

  (func (export "many3")
    (param $start i32) (param $end i32) (param $shortest i32) (param $off0 i32) (param $off1 i32)
    (param $off2 i32) (result i32)
    (local $p i32) (local $last i32) (local $mask i32) (local $at i32) (local $bits i32)
    (local $entry i32) (local $length i32) (local $i i32) (local $byte i32) (local $half v128)
    (local $text v128) (local $found0 v128) (local $found1 v128) (local $low0 v128) (local $high0 v128)
    (local $low1 v128) (local $high1 v128) (local $low2 v128) (local $high2 v128)
    ;; The text is too short to hold any needle.
    (if (i32.lt_u (i32.sub (local.get $end) (local.get $start)) (local.get $shortest))
      (then
        (return (i32.const -1))))
    ;; The last place where a match can begin.
    (local.set $last (i32.sub (local.get $end) (local.get $shortest)))
    (local.set $half (i8x16.splat (i32.const 15)))
    (local.set $low0 (v128.load align=1 (i32.const 65536)))
    (local.set $high0 (v128.load align=1 (i32.const 65552)))
    (local.set $low1 (v128.load align=1 (i32.const 65568)))
    (local.set $high1 (v128.load align=1 (i32.const 65584)))
    (local.set $low2 (v128.load align=1 (i32.const 65600)))
    (local.set $high2 (v128.load align=1 (i32.const 65616)))
    (local.set $p (local.get $start))
    (block $done
      (loop $next
        (br_if $done (i32.gt_u (local.get $p) (local.get $last)))
        ;; Probe 32 places a round. There is no fast shift of bytes: the mask removes what a shift of 16 bits
        ;; brings in from the next byte.
        (if
          (i32.eqz
            (v128.any_true
              (v128.or
                (local.tee $found0
                  (v128.and
                    (v128.and
                      (v128.and
                        (i8x16.swizzle
                          (local.get $low0)
                          (v128.and
                            (local.tee $text
                              (v128.load align=1 (i32.add (local.get $p) (local.get $off0))))
                            (local.get $half)))
                        (i8x16.swizzle
                          (local.get $high0)
                          (v128.and (i16x8.shr_u (local.get $text) (i32.const 4)) (local.get $half))))
                      (v128.and
                        (i8x16.swizzle
                          (local.get $low1)
                          (v128.and
                            (local.tee $text
                              (v128.load align=1 (i32.add (local.get $p) (local.get $off1))))
                            (local.get $half)))
                        (i8x16.swizzle
                          (local.get $high1)
                          (v128.and (i16x8.shr_u (local.get $text) (i32.const 4)) (local.get $half)))))
                    (v128.and
                      (i8x16.swizzle
                        (local.get $low2)
                        (v128.and
                          (local.tee $text
                            (v128.load align=1 (i32.add (local.get $p) (local.get $off2))))
                          (local.get $half)))
                      (i8x16.swizzle
                        (local.get $high2)
                        (v128.and (i16x8.shr_u (local.get $text) (i32.const 4)) (local.get $half))))))
                (local.tee $found1
                  (v128.and
                    (v128.and
                      (v128.and
                        (i8x16.swizzle
                          (local.get $low0)
                          (v128.and
                            (local.tee $text
                              (v128.load offset=16 align=1 (i32.add (local.get $p) (local.get $off0))))
                            (local.get $half)))
                        (i8x16.swizzle
                          (local.get $high0)
                          (v128.and (i16x8.shr_u (local.get $text) (i32.const 4)) (local.get $half))))
                      (v128.and
                        (i8x16.swizzle
                          (local.get $low1)
                          (v128.and
                            (local.tee $text
                              (v128.load offset=16 align=1 (i32.add (local.get $p) (local.get $off1))))
                            (local.get $half)))
                        (i8x16.swizzle
                          (local.get $high1)
                          (v128.and (i16x8.shr_u (local.get $text) (i32.const 4)) (local.get $half)))))
                    (v128.and
                      (i8x16.swizzle
                        (local.get $low2)
                        (v128.and
                          (local.tee $text
                            (v128.load offset=16 align=1 (i32.add (local.get $p) (local.get $off2))))
                          (local.get $half)))
                      (i8x16.swizzle
                        (local.get $high2)
                        (v128.and (i16x8.shr_u (local.get $text) (i32.const 4)) (local.get $half)))))))))
          (then
            (local.set $p (i32.add (local.get $p) (i32.const 32)))
            (br $next)))
        (v128.store align=1 (i32.const 65632) (local.get $found0))
        (v128.store align=1 (i32.const 65648) (local.get $found1))
        (local.set $mask
          (i32.or
            (i8x16.bitmask (i8x16.ne (local.get $found0) (i8x16.splat (i32.const 0))))
            (i32.shl
              (i8x16.bitmask (i8x16.ne (local.get $found1) (i8x16.splat (i32.const 0))))
              (i32.const 16))))
        ;; Each bit of the mask is a candidate.
        (loop $candidate
          (br_if $done
            (i32.gt_u
              (local.tee $at (i32.add (local.get $p) (i32.ctz (local.get $mask))))
              (local.get $last)))
          (local.set $bits (i32.load8_u offset=65632 (i32.ctz (local.get $mask))))
          ;; Each bit is a bucket.
          (loop $bucket
            (local.set $entry
              (i32.add
                (i32.load16_u offset=65664 align=1 (i32.shl (i32.ctz (local.get $bits)) (i32.const 1)))
                (i32.const 65536)))
            (block $ended
              (loop $needle
                (br_if $ended (i32.eqz (local.tee $length (i32.load16_u align=1 (local.get $entry)))))
                (block $differs
                  ;; The needle would reach past the end.
                  (br_if $differs
                    (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (local.get $length)))
                  (local.set $i (i32.const 0))
                  (loop $same
                    ;; Compare one byte, folded.
                    (br_if $differs
                      (i32.ne
                        (i32.or
                          (i32.load8_u (i32.add (local.get $at) (local.get $i)))
                          (i32.load8_u offset=2
                            (i32.add
                              (local.tee $byte (i32.add (local.get $entry) (local.get $i)))
                              (local.get $length))))
                        (i32.load8_u offset=2 (local.get $byte))))
                    (br_if $same
                      (i32.lt_u
                        (local.tee $i (i32.add (local.get $i) (i32.const 1)))
                        (local.get $length))))
                  (return (local.get $at)))
                (local.set $entry
                  (i32.add
                    (i32.add (i32.shl (local.get $length) (i32.const 1)) (i32.const 2))
                    (local.get $entry)))
                (br $needle)))
            (local.set $bits (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))
            (br_if $bucket (local.get $bits)))
          (local.set $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))
          (br_if $candidate (local.get $mask)))
        (local.set $p (i32.add (local.get $p) (i32.const 32)))
        (br $next)))
    (i32.const -1)))
