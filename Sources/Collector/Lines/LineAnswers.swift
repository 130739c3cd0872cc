// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// What a client of the socket of lines is told, in the order in which it is sent: `rejected` once for each refused line,
/// and `ok` with the last count alone where several came before it could be sent.
struct LineAnswers: Sendable {
    /// How many bytes may wait before nothing more is read of the client.
    static let maximumWaiting = 64 << 10

    private var refusals: [UInt8] = []
    private var sending: ArraySlice<UInt8> = []
    private var durable: UInt64 = 0
    private var told: UInt64 = 0

    /// The bytes that wait to be sent; `ok` is not among them.
    var waiting: Int { refusals.count + sending.count }

    /// Notes what has been stored.
    mutating func add(durable lines: UInt64, _ rejections: [Rejection]) {
        durable = max(durable, lines)
        for rejection in rejections {
            refusals += Array("rejected \(rejection.index + 1) \(rejection.reason.name) \(rejection)\n".utf8)
        }
    }

    /// The bytes to send now; none when all is told.
    mutating func next() -> ArraySlice<UInt8> {
        if sending.isEmpty {
            var text = refusals
            refusals = []
            if durable > told { text += Array("ok \(durable)\n".utf8) }
            told = durable
            sending = text[...]
        }
        return sending
    }

    /// Takes off what was sent.
    mutating func sent(_ bytes: Int) { sending = sending.dropFirst(bytes) }

    /// Nobody listens any longer.
    mutating func drop() { self = LineAnswers() }
}
