// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// How long what comes behind the last answer is thrown away, so that the client can read the answer (RFC 9112, 9.6): as
/// long as a client goes on sending in earnest, and a moment for one that does not. Pure, with the time as an input.
struct Linger: Hashable, Sendable {
    /// How long a client may send nothing, or as good as nothing.
    static let patience = TimeAmount.seconds(2)
    /// So much within that time is in earnest.
    static let piece = 4 << 10

    private let since: NIODeadline
    /// When the last whole piece had come.
    private var lastPiece: NIODeadline
    private var bytes = 0

    init(at now: NIODeadline) {
        (since, lastPiece) = (now, now)
    }

    mutating func bytesCame(_ count: Int, at now: NIODeadline) {
        bytes += count
        guard bytes >= Self.piece else { return }
        (bytes, lastPiece) = (0, now)
    }

    /// - Parameters:
    ///   - most: how long it lasts at most.
    ///   - stop: since when the service stops, which waits for nobody longer than for one who sends nothing.
    func end(_ most: TimeAmount, stop: NIODeadline?) -> NIODeadline {
        let end = min(lastPiece + Self.patience, since + most)
        guard let stop else { return end }
        return min(end, max(since, stop) + Self.patience)
    }
}
