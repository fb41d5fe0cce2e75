;; Finds a sequence of byte classes in [start, end), such as [A-Z][0-9]. Returns its address, or -1.
;;
;; As findText.wat, but 16 bytes at $needle describe one class: entry n holds, as bits, the high nibbles that a byte of
;; the class with the low nibble n may have. $folds is a table of 16 bytes that turns a high nibble into its bit.
(module
  (import "env" "memory" (memory 1))

  (func (export "classes")
    (param $start i32) (param $end i32) (param $needle i32) (param $folds i32) (param $length i32)
    (param $off1 i32) (param $off2 i32) (result i32)
    (local $p i32) (local $stop i32) (local $last i32) (local $mask i32) (local $at i32) (local $i i32)
    (local $byte i32) (local $want1 v128) (local $want2 v128) (local $fold1 v128) (local $fold2 v128)
    (local $text v128)
    ;; The text is too short to hold the needle.
    (if (i32.lt_u (i32.sub (local.get $end) (local.get $start)) (local.get $length))
      (then
        (return (i32.const -1))))
    ;; The last place where a match can begin.
    (local.set $last (i32.sub (local.get $end) (local.get $length)))
    (local.set $want1
      (v128.load align=1 (i32.add (local.get $needle) (i32.shl (local.get $off1) (i32.const 4)))))
    (local.set $fold1 (v128.load align=1 (local.get $folds)))
    (local.set $want2
      (v128.load align=1 (i32.add (local.get $needle) (i32.shl (local.get $off2) (i32.const 4)))))
    (local.set $fold2 (v128.load align=1 (local.get $folds)))
    (local.set $p (local.get $start))
    (block $done
      (loop $next
        (br_if $done (i32.gt_u (local.get $p) (local.get $last)))
        ;; Probe 64 places a round as long as there is no candidate.
        (if
          (i32.eqz
            (v128.any_true
              (v128.or
                (v128.or
                  (v128.or
                    (v128.and
                      (i8x16.ne
                        (v128.and
                          (i8x16.swizzle
                            (local.get $want1)
                            (v128.and
                              (local.tee $text
                                (v128.load align=1 (i32.add (local.get $p) (local.get $off1))))
                              (i8x16.splat (i32.const 15))))
                          (i8x16.swizzle
                            (local.get $fold1)
                            (i8x16.shr_u (local.get $text) (i32.const 4))))
                        (i8x16.splat (i32.const 0)))
                      (i8x16.ne
                        (v128.and
                          (i8x16.swizzle
                            (local.get $want2)
                            (v128.and
                              (local.tee $text
                                (v128.load align=1 (i32.add (local.get $p) (local.get $off2))))
                              (i8x16.splat (i32.const 15))))
                          (i8x16.swizzle
                            (local.get $fold2)
                            (i8x16.shr_u (local.get $text) (i32.const 4))))
                        (i8x16.splat (i32.const 0))))
                    (v128.and
                      (i8x16.ne
                        (v128.and
                          (i8x16.swizzle
                            (local.get $want1)
                            (v128.and
                              (local.tee $text
                                (v128.load offset=16 align=1 (i32.add (local.get $p) (local.get $off1))))
                              (i8x16.splat (i32.const 15))))
                          (i8x16.swizzle
                            (local.get $fold1)
                            (i8x16.shr_u (local.get $text) (i32.const 4))))
                        (i8x16.splat (i32.const 0)))
                      (i8x16.ne
                        (v128.and
                          (i8x16.swizzle
                            (local.get $want2)
                            (v128.and
                              (local.tee $text
                                (v128.load offset=16 align=1 (i32.add (local.get $p) (local.get $off2))))
                              (i8x16.splat (i32.const 15))))
                          (i8x16.swizzle
                            (local.get $fold2)
                            (i8x16.shr_u (local.get $text) (i32.const 4))))
                        (i8x16.splat (i32.const 0)))))
                  (v128.and
                    (i8x16.ne
                      (v128.and
                        (i8x16.swizzle
                          (local.get $want1)
                          (v128.and
                            (local.tee $text
                              (v128.load offset=32 align=1 (i32.add (local.get $p) (local.get $off1))))
                            (i8x16.splat (i32.const 15))))
                        (i8x16.swizzle (local.get $fold1) (i8x16.shr_u (local.get $text) (i32.const 4))))
                      (i8x16.splat (i32.const 0)))
                    (i8x16.ne
                      (v128.and
                        (i8x16.swizzle
                          (local.get $want2)
                          (v128.and
                            (local.tee $text
                              (v128.load offset=32 align=1 (i32.add (local.get $p) (local.get $off2))))
                            (i8x16.splat (i32.const 15))))
                        (i8x16.swizzle (local.get $fold2) (i8x16.shr_u (local.get $text) (i32.const 4))))
                      (i8x16.splat (i32.const 0)))))
                (v128.and
                  (i8x16.ne
                    (v128.and
                      (i8x16.swizzle
                        (local.get $want1)
                        (v128.and
                          (local.tee $text
                            (v128.load offset=48 align=1 (i32.add (local.get $p) (local.get $off1))))
                          (i8x16.splat (i32.const 15))))
                      (i8x16.swizzle (local.get $fold1) (i8x16.shr_u (local.get $text) (i32.const 4))))
                    (i8x16.splat (i32.const 0)))
                  (i8x16.ne
                    (v128.and
                      (i8x16.swizzle
                        (local.get $want2)
                        (v128.and
                          (local.tee $text
                            (v128.load offset=48 align=1 (i32.add (local.get $p) (local.get $off2))))
                          (i8x16.splat (i32.const 15))))
                      (i8x16.swizzle (local.get $fold2) (i8x16.shr_u (local.get $text) (i32.const 4))))
                    (i8x16.splat (i32.const 0)))))))
          (then
            (local.set $p (i32.add (local.get $p) (i32.const 64)))
            (br $next)))
        (local.set $stop (i32.add (local.get $p) (i32.const 64)))
        (loop $sixteen
          (local.set $mask
            (i8x16.bitmask
              (v128.and
                (i8x16.ne
                  (v128.and
                    (i8x16.swizzle
                      (local.get $want1)
                      (v128.and
                        (local.tee $text (v128.load align=1 (i32.add (local.get $p) (local.get $off1))))
                        (i8x16.splat (i32.const 15))))
                    (i8x16.swizzle (local.get $fold1) (i8x16.shr_u (local.get $text) (i32.const 4))))
                  (i8x16.splat (i32.const 0)))
                (i8x16.ne
                  (v128.and
                    (i8x16.swizzle
                      (local.get $want2)
                      (v128.and
                        (local.tee $text (v128.load align=1 (i32.add (local.get $p) (local.get $off2))))
                        (i8x16.splat (i32.const 15))))
                    (i8x16.swizzle (local.get $fold2) (i8x16.shr_u (local.get $text) (i32.const 4))))
                  (i8x16.splat (i32.const 0))))))
          (block $none
            ;; Each bit of the mask is a candidate.
            (loop $candidate
              (br_if $none (i32.eqz (local.get $mask)))
              (br_if $done
                (i32.gt_u
                  (local.tee $at (i32.add (local.get $p) (i32.ctz (local.get $mask))))
                  (local.get $last)))
              (local.set $i (i32.const 0))
              (block $differs
                (loop $compare
                  (if (i32.eq (local.get $i) (local.get $length))
                    (then
                      (return (local.get $at))))
                  (br_if $differs
                    (i32.eqz
                      (i32.and
                        (i32.load8_u
                          (i32.add
                            (i32.add
                              (i32.and
                                (local.tee $byte (i32.load8_u (i32.add (local.get $at) (local.get $i))))
                                (i32.const 15))
                              (i32.shl (local.get $i) (i32.const 4)))
                            (local.get $needle)))
                        (i32.load8_u
                          (i32.add (i32.shr_u (local.get $byte) (i32.const 4)) (local.get $folds))))))
                  (local.set $i (i32.add (local.get $i) (i32.const 1)))
                  (br $compare)))
              ;; Clear the lowest bit.
              (local.set $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))
              (br $candidate)))
          (br_if $sixteen
            (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 16))) (local.get $stop))))
        (br $next)))
    (i32.const -1)))
