;; Dot products of one query with many vectors of 256 signed bytes.
;; The query lies at `query` as 256 numbers of 16 bits, the vectors from `vectors` on, one behind the other; the results are
;; written from `results` on, as 32-bit floating-point numbers, which hold them exactly.
(module
  (memory (export "memory") 1 65536)
  (func (export "dotProducts") (param $query i32) (param $vectors i32) (param $count i32) (param $results i32)
    (local $end i32) (local $at i32) (local $sum v128) (local $bytes v128)
    (local.set $end (i32.add (local.get $vectors) (i32.shl (local.get $count) (i32.const 8))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $vectors) (local.get $end)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $at (i32.const 0))
        (loop $within
          (local.set $bytes (v128.load (i32.add (local.get $vectors) (local.get $at))))
          (local.set $sum
            (i32x4.add
              (local.get $sum)
              (i32x4.add
                (i32x4.dot_i16x8_s
                  (i16x8.extend_low_i8x16_s (local.get $bytes))
                  (v128.load (i32.add (local.get $query) (i32.shl (local.get $at) (i32.const 1)))))
                (i32x4.dot_i16x8_s
                  (i16x8.extend_high_i8x16_s (local.get $bytes))
                  (v128.load offset=16 (i32.add (local.get $query) (i32.shl (local.get $at) (i32.const 1))))))))
          (br_if $within
            (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (i32.const 256))))
        (f32.store
          (local.get $results)
          (f32.convert_i32_s
            (i32.add
              (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
              (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum))))))
        (local.set $results (i32.add (local.get $results) (i32.const 4)))
        (local.set $vectors (i32.add (local.get $vectors) (i32.const 256)))
        (br $next)))))
