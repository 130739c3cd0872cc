// SPDX-License-Identifier: Apache-2.0

/// Tells when files that changed have stood still from one look to the next, so that none is read half written.
struct SettledChange<Stamp: Equatable & Sendable>: Sendable {
    private var used: Stamp
    private var seen: Stamp?

    /// - Parameter used: what was last read.
    init(used: Stamp) {
        self.used = used
    }

    /// Whether to read now; what is looked at counts as read then, whatever comes of it.
    mutating func look(_ stamp: Stamp) -> Bool {
        if stamp == used {
            seen = nil
            return false
        }
        guard stamp == seen else {
            seen = stamp
            return false
        }
        use(stamp)
        return true
    }

    /// This was read.
    mutating func use(_ stamp: Stamp) {
        used = stamp
        seen = nil
    }
}
