// SPDX-License-Identifier: Apache-2.0

extension Double {
    /// The sum of two finite numbers, or where that is too large the largest finite one of its sign: a total that was
    /// infinite once would stay so.
    @inline(__always)
    func addingUpToFinite(_ other: Double) -> Double {
        let sum = self + other
        if sum.isFinite { return sum }
        return sum < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude
    }
}
