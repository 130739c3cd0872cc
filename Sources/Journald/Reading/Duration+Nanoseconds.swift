// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The whole nanoseconds, 0 for a negative duration and at most about 292 years.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return UInt64(Int64.max) }
        return min(UInt64(whole) + UInt64(attoseconds / 1_000_000_000), UInt64(Int64.max))
    }
}
