// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Failures whose reasons have been counted, when it turns out to which attempts they belong.
extension CycleTable {
    /// Marks in each attempt the failure whose reason counts now, so that it stands against what arrives later.
    ///
    /// For an execution that arrives behind results of the attempts that it separates, and for facts that come from another
    /// cycle: before and after, because what was counted of them stands where they are. O(facts).
    mutating func keepCountedReasons(at slot: Int) {
        let counted = counted(at: slot)
        // While one waits, not every reason has been counted.
        guard counted.hasFailures, stageCounts(at: slot, isClosing: false).failureTotal <= counted.failureTotal,
            let facts = withFacts(at: slot, { Self.withCountedReasons($0) })
        else { return }
        replaceFacts(at: slot, facts)
    }

    /// Whether a cycle has facts of a later time.
    func hasFacts(after time: Timestamp, at slot: Int) -> Bool {
        let base = self[slot].base
        return withFacts(at: slot) { facts in
            facts.count > 0 && Fact(rawValue: facts[facts.count - 1]).time(base: base) > time
        }
    }

    /// The facts with the marks that are missing, in event order; nil where none is.
    private static func withCountedReasons(_ facts: Span<UInt64>) -> [UInt64]? {
        var words: [UInt64] = []
        var isChanged = false
        var attempt = Attempt()
        var attempts = facts.untoldAttempts()
        var start = 0
        for index in 0...facts.count {
            let fact = index < facts.count ? Fact(rawValue: facts[index]) : nil
            if fact == nil || fact?.stage == .executed && attempts > 0 {
                if let reason = attempt.unmarkedReason(hasEnded: fact != nil),
                    let place = words.indices.first(where: { $0 >= start && Fact(rawValue: words[$0]).tells(reason) })
                {
                    words[place] = Fact(rawValue: words[place]).markedAsCounted.rawValue
                    isChanged = true
                }
                attempt = Attempt()
                start = index
            }
            guard let fact else { break }
            if fact.stage == .executed { attempts += 1 } else { attempt.add(fact) }
            words.append(fact.rawValue)
        }
        return isChanged ? words.sorted() : nil
    }
}

extension Attempt {
    /// The reason that counts, unless it is marked as counted or no line names it.
    fileprivate func unmarkedReason(hasEnded: Bool) -> FailureReason? {
        hasCountedReason ? nil : failure(hasEnded: hasEnded, isClosing: false)
    }
}

extension Fact {
    /// Whether it is a line of a failure for a reason that may count; without one it counts as `OTHER`.
    fileprivate func tells(_ reason: FailureReason) -> Bool {
        switch stage {
        case .failure: (self.reason ?? .other) == reason && !detail.contains(.willRetry)
        case .completed: (self.reason ?? .other) == reason && detail.contains(.unsuccessful)
        default: false
        }
    }
}
