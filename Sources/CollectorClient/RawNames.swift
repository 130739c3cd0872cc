// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Synchronization
internal import TelemetryEvents

/// Remembers what the pseudonyms of a log stand for while it is decoded here, so that the collector gets the names
/// themselves and gives them the pseudonyms that all other ways of sending give them.
///
/// Memory is bounded: of more than `most` names those that were not used for longest are forgotten. The decoder itself
/// remembers far fewer.
final class RawNames: Pseudonymising {
    static let most = 65_536

    private struct Known {
        var recent: [UInt64: [UInt8]] = [:]
        var older: [UInt64: [UInt8]] = [:]

        mutating func keep(_ name: [UInt8], _ hash: UInt64) {
            if recent.count >= RawNames.most / 2 {
                older = recent
                recent = [:]
            }
            recent[hash] = name
        }
    }

    private let known = Mutex(Known())

    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        let name = (0..<bytes.count).map { bytes[$0] }
        var words: (high: UInt64, low: UInt64) = (0, 0)
        for (index, byte) in SHA256.hash(data: name).prefix(16).enumerated() {
            if index < 8 {
                words.high = words.high << 8 | UInt64(byte)
            } else {
                words.low = words.low << 8 | UInt64(byte)
            }
        }
        let high = words.high
        known.withLock { $0.keep(name, high) }
        return Pseudonym(high: words.high, low: words.low)
    }

    /// The name that a pseudonym begins like this for.
    func name(_ high: UInt64) -> [UInt8]? {
        known.withLock { known in
            if let name = known.recent[high] { return name }
            guard let name = known.older[high] else { return nil }
            known.keep(name, high)
            return name
        }
    }
}
