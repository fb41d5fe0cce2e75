;; Finds $length bytes of one class in a row, at most 32, in [start, end). Returns the address of the first, or -1.
;;
;; $needle is the address of the class, $folds of the bits of the high nibbles; both as in findClasses.wat.
(module
  (import "env" "memory" (memory 1))

  (func (export "run")
    (param $start i32) (param $end i32) (param $needle i32) (param $folds i32) (param $length i32)
    (result i32)
    (local $p i32) (local $mask i32) (local $open i32) (local $runs i32) (local $reach i32)
    (local $step i32) (local $class v128) (local $halves v128) (local $text v128)
    (local.set $class (v128.load align=1 (local.get $needle)))
    (local.set $halves (v128.load align=1 (local.get $folds)))
    (local.set $p (local.get $start))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $p) (local.get $end)))
        ;; One bit for each of the 32 bytes.
        (local.set $mask
          (i32.or
            (i8x16.bitmask
              (i8x16.ne
                (v128.and
                  (i8x16.swizzle
                    (local.get $class)
                    (v128.and
                      (local.tee $text (v128.load align=1 (local.get $p)))
                      (i8x16.splat (i32.const 15))))
                  (i8x16.swizzle (local.get $halves) (i8x16.shr_u (local.get $text) (i32.const 4))))
                (i8x16.splat (i32.const 0))))
            (i32.shl
              (i8x16.bitmask
                (i8x16.ne
                  (v128.and
                    (i8x16.swizzle
                      (local.get $class)
                      (v128.and
                        (local.tee $text (v128.load offset=16 align=1 (local.get $p)))
                        (i8x16.splat (i32.const 15))))
                    (i8x16.swizzle (local.get $halves) (i8x16.shr_u (local.get $text) (i32.const 4))))
                  (i8x16.splat (i32.const 0))))
              (i32.const 16))))
        ;; Clear the bits past the end.
        (if (i32.lt_u (local.tee $step (i32.sub (local.get $end) (local.get $p))) (i32.const 32))
          (then
            (local.set $mask
              (i32.and
                (local.get $mask)
                (i32.sub (i32.shl (i32.const 1) (local.get $step)) (i32.const 1))))))
        ;; A run that was open at the end of the last block may be complete now.
        (if
          (i32.ge_u
            (i32.add (local.get $open) (i32.ctz (i32.xor (local.get $mask) (i32.const -1))))
            (local.get $length))
          (then
            (return (i32.sub (local.get $p) (local.get $open)))))
        ;; A bit of $runs stays set if $reach bits are set from there on. $reach at most doubles in a step.
        (local.set $runs (local.get $mask))
        (local.set $reach (i32.const 1))
        (block $complete
          (loop $longer
            (br_if $complete
              (i32.eqz (local.tee $step (i32.sub (local.get $length) (local.get $reach)))))
            (if (i32.gt_u (local.get $step) (local.get $reach))
              (then
                (local.set $step (local.get $reach))))
            (local.set $runs
              (i32.and (local.get $runs) (i32.shr_u (local.get $runs) (local.get $step))))
            (local.set $reach (i32.add (local.get $reach) (local.get $step)))
            (br $longer)))
        (if (local.get $runs)
          (then
            (return (i32.add (local.get $p) (i32.ctz (local.get $runs))))))
        ;; A run of an earlier block is still open only if the whole block belongs to it.
        (if (i32.ne (local.get $mask) (i32.const -1))
          (then
            (local.set $open (i32.const 0))))
        (local.set $open
          (i32.add (local.get $open) (i32.clz (i32.xor (local.get $mask) (i32.const -1)))))
        (local.set $p (i32.add (local.get $p) (i32.const 32)))
        (br $next)))
    (i32.const -1)))
