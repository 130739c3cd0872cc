// SPDX-License-Identifier: Apache-2.0

/// A length of time that was counted, and in which bucket.
struct CountedTime {
    let measure: TimeHistogram.Measure
    let bucket: Int
    let microseconds: Int64
}
