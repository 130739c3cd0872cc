// SPDX-License-Identifier: Apache-2.0

/// What a message of a known form says. Its texts are ranges of the bytes that it was read from.
struct LogMessage {
    var form: LogRule.Form
    var scheduleId: Event.Text = 0..<0
    /// When the notification is due.
    var due: Timestamp?
    /// The earliest time of the task.
    var begin: Timestamp?
    /// Microseconds.
    var duration: Int64?
    /// Microseconds.
    var age: Int64?
    var byteCount: Int64?
    var itemCount: Int64?
    /// Seconds.
    var ttl: Int32?
    var status: Int16?
    var reason: FailureReason?
    /// What a reason outside the set tells: `OTHER` when nothing.
    var hintedReason: FailureReason?
    var willRetry: Bool?
    /// Whether the attempt, or in a summary the cycle, was successful.
    var isSuccessful: Bool?
    var usedCached: Bool?
    /// Whether the message tells where the content came from, and that it was not the prefetch.
    var isFromElsewhere = false
    var error: Event.Text = 0..<0
    var contentHash: Event.Text = 0..<0
    var scheduleHash: Event.Text = 0..<0
    /// Where the counters of a snapshot stand.
    var counters: Event.Text = 0..<0

    /// Whether it has texts beside the schedule id.
    var hasTexts: Bool { !error.isEmpty || !contentHash.isEmpty || !scheduleHash.isEmpty || !counters.isEmpty }

    init(_ form: LogRule.Form) {
        self.form = form
    }

    /// Derives what the form and the fields leave to derive (SPEC 3.4).
    mutating func complete(_ bytes: Span<UInt8>) {
        error = error.prefix(Self.readError)
        switch form.kind {
        case .prefetchFailure:
            reason =
                form.reason ?? reason ?? status.flatMap { FailureReason(httpStatus: Int64($0)) }
                ?? (error.isEmpty ? nil : FailureReason(error: bytes, error)) ?? hintedReason
        case .prefetchExpired: reason = .system
        case .prefetchCompleted: reason = isSuccessful == false ? reason ?? hintedReason ?? form.reason : nil
        case .contentCacheFailed where form.reason != nil: usedCached = false
        default: break
        }
    }

    /// How much of an error's text is looked at.
    private static let readError = 1_024
}

extension Span<UInt8> {
    /// The range without the white space around it, and without one leading byte.
    func trimmed(_ range: Range<Int>, alsoLeading byte: UInt8? = nil) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, self[start] <= 0x20 || self[start] == byte { start += 1 }
        while end > start, self[end - 1] <= 0x20 { end -= 1 }
        return start..<end
    }
}
