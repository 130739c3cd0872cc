// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// The answers to a client of a line socket: `rejected` for each refused line, once for each of its reasons, `note` where
/// there is something to say, then `ok` with the count of durable lines.
///
/// Counts that could not be sent in time are merged into the last one.
struct LineAnswers: Sendable {
    /// With more bytes pending, no more is read from the client.
    static let maximumWaiting = 64 << 10

    private var refusals: [UInt8] = []
    private var sending: ArraySlice<UInt8> = []
    private var durable: UInt64 = 0
    private var acknowledged: UInt64 = 0
    /// Whether a note was added.
    private(set) var hasNote = false

    /// The bytes to be sent, without a pending `ok`.
    var waiting: Int { refusals.count + sending.count }

    /// Adds the answers to stored lines.
    mutating func add(durable lines: UInt64, _ rejections: [Rejection]) {
        durable = max(durable, lines)
        // A line can hold thousands of events; each reason is told once, so that the answers stay in proportion to it.
        var told: Set<Rejection> = []
        // Those of several fields may say the same.
        var answers: Set<String> = []
        for rejection in rejections {
            if told.first?.index != rejection.index {
                told.removeAll(keepingCapacity: true)
                answers.removeAll(keepingCapacity: true)
            }
            guard told.insert(rejection).inserted else { continue }
            let answer = "rejected \(rejection.index + 1) \(rejection.reason.name) \(rejection)\n"
            if answers.insert(answer).inserted { refusals += Array(answer.utf8) }
        }
    }

    /// Adds what the client should know, though nothing is refused; one line.
    mutating func add(note: String) {
        refusals += Array("note \(note)\n".utf8)
        hasNote = true
    }

    /// The bytes to send now; empty if all is sent.
    mutating func next() -> ArraySlice<UInt8> {
        if sending.isEmpty {
            var text = refusals
            refusals = []
            if durable > acknowledged { text += Array("ok \(durable)\n".utf8) }
            acknowledged = durable
            sending = text[...]
        }
        return sending
    }

    /// Removes sent bytes.
    mutating func sent(_ bytes: Int) { sending = sending.dropFirst(bytes) }

    /// Drops all answers: the client is gone.
    mutating func drop() { self = LineAnswers() }
}
