;; Finds a needle in [start, end), byte for byte. Returns its address, or -1.
;;
;; $needle is the address of its bytes, $length their number; $off1 and $off2 are the places of its two rarest bytes.
;; Those two are compared at 16 places at the same time, and only where both fit is the whole needle compared.
;; $folds is not used: all finders of one needle take the same parameters.
;; May read 128 bytes past $end; what is found there does not count.
(module
  (import "env" "memory" (memory 1))

  (func (export "text")
    (param $start i32) (param $end i32) (param $needle i32) (param $folds i32) (param $length i32)
    (param $off1 i32) (param $off2 i32) (result i32)
    (local $p i32) (local $stop i32) (local $last i32) (local $mask i32) (local $at i32) (local $i i32)
    (local $want1 v128) (local $want2 v128)
    ;; The text is too short to hold the needle.
    (if (i32.lt_u (i32.sub (local.get $end) (local.get $start)) (local.get $length))
      (then
        (return (i32.const -1))))
    ;; The last place where a match can begin.
    (local.set $last (i32.sub (local.get $end) (local.get $length)))
    (local.set $want1 (i8x16.splat (i32.load8_u (i32.add (local.get $needle) (local.get $off1)))))
    (local.set $want2 (i8x16.splat (i32.load8_u (i32.add (local.get $needle) (local.get $off2)))))
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
                      (i8x16.eq
                        (v128.load align=1 (i32.add (local.get $p) (local.get $off1)))
                        (local.get $want1))
                      (i8x16.eq
                        (v128.load align=1 (i32.add (local.get $p) (local.get $off2)))
                        (local.get $want2)))
                    (v128.and
                      (i8x16.eq
                        (v128.load offset=16 align=1 (i32.add (local.get $p) (local.get $off1)))
                        (local.get $want1))
                      (i8x16.eq
                        (v128.load offset=16 align=1 (i32.add (local.get $p) (local.get $off2)))
                        (local.get $want2))))
                  (v128.and
                    (i8x16.eq
                      (v128.load offset=32 align=1 (i32.add (local.get $p) (local.get $off1)))
                      (local.get $want1))
                    (i8x16.eq
                      (v128.load offset=32 align=1 (i32.add (local.get $p) (local.get $off2)))
                      (local.get $want2))))
                (v128.and
                  (i8x16.eq
                    (v128.load offset=48 align=1 (i32.add (local.get $p) (local.get $off1)))
                    (local.get $want1))
                  (i8x16.eq
                    (v128.load offset=48 align=1 (i32.add (local.get $p) (local.get $off2)))
                    (local.get $want2))))))
          (then
            (local.set $p (i32.add (local.get $p) (i32.const 64)))
            (br $next)))
        (local.set $stop (i32.add (local.get $p) (i32.const 64)))
        (loop $sixteen
          (local.set $mask
            (i8x16.bitmask
              (v128.and
                (i8x16.eq
                  (v128.load align=1 (i32.add (local.get $p) (local.get $off1)))
                  (local.get $want1))
                (i8x16.eq
                  (v128.load align=1 (i32.add (local.get $p) (local.get $off2)))
                  (local.get $want2)))))
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
                    (i32.ne
                      (i32.load8_u (i32.add (local.get $at) (local.get $i)))
                      (i32.load8_u (i32.add (local.get $needle) (local.get $i)))))
                  (local.set $i (i32.add (local.get $i) (i32.const 1)))
                  (br $compare)))
              ;; Clear the lowest bit.
              (local.set $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))
              (br $candidate)))
          (br_if $sixteen
            (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 16))) (local.get $stop))))
        (br $next)))
    (i32.const -1)))
