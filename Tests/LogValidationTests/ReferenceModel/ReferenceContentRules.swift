// SPDX-License-Identifier: Apache-2.0

/// The rules about content: its hash, its age and its delivery.
extension ReferenceModel {
    /// Holds the hash of each use against the latest one before it.
    func contentMismatch(_ pass: Pass) -> Ruling {
        let cached = (pass.events("content_cached") + pass.events("prefetch_success"))
        return mismatch(of: pass.events("prefetch_used_for_notification"), against: cached, \.contentHash)
    }

    func scheduleMismatch(_ pass: Pass) -> Ruling {
        mismatch(of: pass.events("prefetch_executed"), against: pass.events("prefetch_scheduled"), \.scheduleHash)
    }

    private func mismatch(
        of later: [ToldEvent],
        against earlier: [ToldEvent],
        _ hash: (ToldEvent) -> String?
    ) -> Ruling {
        var ruling = Ruling.no
        for event in later {
            guard let own = hash(event) else { continue }
            let others = earlier.filter { hash($0) != nil }
            let latest = others.map(\.time).filter { $0 < event.time }.max()
            // What is told in the same second may be before or after it.
            let nearest = others.filter { $0.time == latest || $0.time == event.time }
            if latest != nil {
                ruling = ruling || Ruling(nearest.map { hash($0) != own })
            } else if others.contains(where: { hash($0) != own }) {
                ruling = ruling || .arguable
            }
        }
        return ruling
    }

    /// Holds the age of used content against the latest `ttl` before its use.
    func staleContent(_ judged: JudgedPass) -> Ruling {
        let pass = judged.pass
        let told = pass.events.map(\.event).filter { $0.ttl != nil }.sorted { $0.time < $1.time }
        guard !told.isEmpty, judged.isUsed else { return .no }
        let used = pass.events("prefetch_used_for_notification")
        guard !used.isEmpty else { return .arguable }
        let delivered = pass.events("notification_delivered").map(\.time)
        let fetches = pass.events("prefetch_success").map(\.time)
        var ruling = Ruling.no
        var readings: [Bool] = []
        for use in used {
            let before = told.filter { $0.time < use.time }
            guard let latest = before.last, before.count == told.filter({ $0.time <= use.time }).count else {
                ruling = .arguable
                continue
            }
            let largest = before.compactMap(\.ttl).max()
            guard let ttl = rules.heldAgainstTheLatestTTL ? latest.ttl : largest else { continue }
            if before.contains(where: { $0.time == latest.time && $0.ttl != latest.ttl }) { ruling = .arguable }
            if let age = use.age {
                readings.append(age > ttl)
            } else if let fetch = fetches.last(where: { $0 < use.time }) {
                for end in [use.time] + delivered { readings.append(end - fetch > ttl) }
            } else {
                ruling = .arguable
            }
        }
        // Several uses of one cycle are told of one notification.
        if readings.contains(true) { return readings.contains(false) ? .arguable : ruling == .no ? .yes : .arguable }
        return ruling
    }

    func drift(_ pass: Pass) -> Ruling {
        if pass.contains("notification_drift") { return .yes }
        guard let due = pass.name.due else { return .no }
        let drifts = pass.events("notification_delivered").map { abs($0.time - due) > rules.toleratedDrift }
        if !drifts.contains(true) { return .no }
        return drifts.contains(false) ? .arguable : .yes
    }
}
