// SPDX-License-Identifier: Apache-2.0

/// The limits that a ``DeliverySession`` works by; times in nanoseconds.
struct DeliveryLimits: Sendable {
    /// The most entries that any writer may have handed over above the position up to which all are confirmed.
    static let widestWindow = 65_536

    let windowEntries: Int
    let windowBytes: Int
    let entriesPerDatagram: Int
    let bytesPerDatagram: Int
    let markerTimeout: UInt64
    let confirmationTimeout: UInt64
    let connecting: Backoff
    let resending: Backoff

    init(_ configuration: JournalDeliveryConfiguration) {
        windowEntries = max(1, min(configuration.windowEntries, Self.widestWindow))
        windowBytes = max(1, configuration.windowBytes)
        entriesPerDatagram = max(1, min(configuration.entriesPerDatagram, windowEntries))
        bytesPerDatagram = max(1, configuration.bytesPerDatagram)
        let millisecond: UInt64 = 1_000_000
        markerTimeout = max(millisecond, configuration.markerTimeout.nanoseconds)
        confirmationTimeout = max(millisecond, configuration.confirmationTimeout.nanoseconds)
        let first = max(millisecond, configuration.firstPause.nanoseconds)
        connecting = Backoff(first: first, longest: max(first, configuration.longestConnectPause.nanoseconds))
        resending = Backoff(first: first, longest: max(first, configuration.longestPause.nanoseconds))
    }
}
