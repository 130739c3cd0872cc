// SPDX-License-Identifier: Apache-2.0

/// A pause that doubles with every failure up to a limit, with a random quarter off so that clients spread.
struct Backoff: Sendable {
    /// Nanoseconds.
    let first: UInt64
    /// Nanoseconds.
    let longest: UInt64

    /// The pause after the given number of failures in a row, from 1 up, in nanoseconds.
    func pause(failures: Int, random: UInt64) -> UInt64 {
        let doublings = UInt64(max(1, min(failures, 41)) - 1)
        let (product, overflow) = first.multipliedReportingOverflow(by: 1 << doublings)
        let pause = overflow ? longest : min(product, longest)
        return pause - (pause / 4).multipliedFullWidth(by: random).high
    }
}
