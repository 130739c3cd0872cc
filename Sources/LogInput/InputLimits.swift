// SPDX-License-Identifier: Apache-2.0

/// What reading an input of a stranger may take.
package struct InputLimits: Sendable {
    /// Content up to this size in bytes is accepted at any ratio of compression.
    package static let unsuspiciousBytes = 1 << 20

    /// A limit that an input can be over.
    package enum Limit: Hashable, Sendable, CaseIterable {
        case size, ratio, time
    }

    /// The most bytes of content, decompressed.
    package var maximumBytes: Int
    /// The highest ratio of the content to what it is decompressed from.
    package var maximumRatio: Int
    /// When reading ends.
    package var deadline: ContinuousClock.Instant

    package init(maximumBytes: Int, maximumRatio: Int, deadline: ContinuousClock.Instant) {
        self.maximumBytes = maximumBytes
        self.maximumRatio = maximumRatio
        self.deadline = deadline
    }

    /// - Parameters:
    ///   - produced: the bytes of content so far.
    ///   - compressed: the bytes that they are decompressed from; nil where they are not compressed.
    /// - Throws: `InputError` for the first limit that is exceeded.
    func check(produced: Int, of compressed: Int?, named name: String) throws(InputError) {
        guard produced <= maximumBytes else {
            throw InputError(input: name, problem: "it holds more than \(maximumBytes >> 20) MiB", limit: .size)
        }
        if let compressed, produced > Self.unsuspiciousBytes, produced / max(compressed, 1) > maximumRatio {
            throw InputError(
                input: name,
                problem: "its gzip decompresses to more than \(maximumRatio) times its size",
                limit: .ratio
            )
        }
        guard ContinuousClock.now < deadline else {
            throw InputError(input: name, problem: "reading it takes longer than is allowed", limit: .time)
        }
    }
}
