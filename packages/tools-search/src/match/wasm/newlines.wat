;; Counts and finds one byte, 16 at a time.
(module
  (import "env" "memory" (memory 1))

  ;; How often $byte occurs in [start, end).
  (func (export "count")
    (param $start i32) (param $end i32) (param $byte i32) (result i32)
    (local $p i32) (local $stop i32) (local $total i32) (local $mask i32) (local $wanted v128)
    (local $counts v128)
    (local.set $wanted (i8x16.splat (local.get $byte)))
    (local.set $p (local.get $start))
    (block $few
      ;; 16 counters of 8 bits, added up after 1024 bytes, before one can overflow. "Equal" sets all bits, which is -1:
      ;; subtracting it adds one.
      (loop $round
        (br_if $few (i32.lt_u (i32.sub (local.get $end) (local.get $p)) (i32.const 1024)))
        (local.set $stop (i32.add (local.get $p) (i32.const 1024)))
        (local.set $counts (i8x16.splat (i32.const 0)))
        (loop $many
          (local.set $counts
            (i8x16.sub
              (local.get $counts)
              (i8x16.eq (v128.load align=1 (local.get $p)) (local.get $wanted))))
          (local.set $counts
            (i8x16.sub
              (local.get $counts)
              (i8x16.eq (v128.load offset=16 align=1 (local.get $p)) (local.get $wanted))))
          (local.set $counts
            (i8x16.sub
              (local.get $counts)
              (i8x16.eq (v128.load offset=32 align=1 (local.get $p)) (local.get $wanted))))
          (local.set $counts
            (i8x16.sub
              (local.get $counts)
              (i8x16.eq (v128.load offset=48 align=1 (local.get $p)) (local.get $wanted))))
          (local.set $p (i32.add (local.get $p) (i32.const 64)))
          (br_if $many (i32.lt_u (local.get $p) (local.get $stop))))
        (local.set $counts
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $counts))))
        (local.set $total (i32.add (i32x4.extract_lane 0 (local.get $counts)) (local.get $total)))
        (local.set $total (i32.add (i32x4.extract_lane 1 (local.get $counts)) (local.get $total)))
        (local.set $total (i32.add (i32x4.extract_lane 2 (local.get $counts)) (local.get $total)))
        (local.set $total (i32.add (i32x4.extract_lane 3 (local.get $counts)) (local.get $total)))
        (br $round)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $p) (local.get $end)))
        (local.set $total
          (i32.add
            (i32.popcnt
              (local.tee $mask
                (i8x16.bitmask (i8x16.eq (v128.load align=1 (local.get $p)) (local.get $wanted)))))
            (local.get $total)))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (br $next)))
    ;; Take back what was counted past the end.
    (if (local.tee $stop (i32.sub (local.get $p) (local.get $end)))
      (then
        (local.set $total
          (i32.sub
            (local.get $total)
            (i32.popcnt (i32.shr_u (local.get $mask) (i32.sub (i32.const 16) (local.get $stop))))))))
    (local.get $total))

  ;; The address of the first $byte in [start, end), or $end.
  (func (export "next")
    (param $start i32) (param $end i32) (param $byte i32) (result i32)
    (local $p i32) (local $mask i32) (local $wanted v128)
    (local.set $wanted (i8x16.splat (local.get $byte)))
    (local.set $p (local.get $start))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $p) (local.get $end)))
        (if
          (local.tee $mask
            (i8x16.bitmask (i8x16.eq (v128.load align=1 (local.get $p)) (local.get $wanted))))
          (then
            (local.set $p (i32.add (local.get $p) (i32.ctz (local.get $mask))))
            (br_if $done (i32.ge_u (local.get $p) (local.get $end)))
            (return (local.get $p))))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (br $next)))
    (local.get $end))

  ;; The address of the last $byte in [start, end), or -1.
  (func (export "previous")
    (param $start i32) (param $end i32) (param $byte i32) (result i32)
    (local $p i32) (local $mask i32) (local $wanted v128)
    (local.set $wanted (i8x16.splat (local.get $byte)))
    (local.set $p (local.get $end))
    (block $few
      (loop $next
        (br_if $few (i32.lt_u (i32.sub (local.get $p) (local.get $start)) (i32.const 16)))
        (local.set $p (i32.add (local.get $p) (i32.const -16)))
        (br_if $next
          (i32.eqz
            (local.tee $mask
              (i8x16.bitmask (i8x16.eq (v128.load align=1 (local.get $p)) (local.get $wanted))))))
        (return (i32.sub (i32.add (local.get $p) (i32.const 31)) (i32.clz (local.get $mask))))))
    ;; Fewer than 16 are left: look at them one by one.
    (block $done
      (loop $one
        (br_if $done (i32.eq (local.get $p) (local.get $start)))
        (local.set $p (i32.add (local.get $p) (i32.const -1)))
        (br_if $one (i32.ne (i32.load8_u (local.get $p)) (local.get $byte)))
        (return (local.get $p))))
    (i32.const -1)))
