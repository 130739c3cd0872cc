// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in nanoseconds, 0 for a negative one, at most about 292 years.
    var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? UInt64(Int64.max) : UInt64(nanoseconds).addingSaturated(UInt64(attoseconds / 1_000_000_000))
    }
}

extension UInt64 {
    /// The sum, or the greatest number when it does not fit.
    func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
