// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension LifecycleFold {
    /// Folds an event into its cycle and its installation.
    ///
    /// - Parameters:
    ///   - schedule: the hash of its schedule; nil without one.
    ///   - lookup: what was looked up about its cycle.
    ///   - isRepeated: whether what it says by itself is counted already.
    mutating func fold(
        _ event: borrowing Event,
        schedule: UInt64?,
        _ lookup: EventWindow.CycleLookup,
        isRepeated: Bool,
        in bytes: Span<UInt8>
    ) {
        let installation = event.installation?.fingerprint ?? 0
        let named = groups.place(of: event, in: bytes)
        let earlier = groups.increments(of: named ?? 0)
        let isTimed = installations.hasWarps ? !isWarped(event) : true
        var isToldAgain = isRepeated
        if event.kind == .contentCacheFailed { isToldAgain = noteStorage(event, installation) }
        let time = groups[named ?? 0].count(
            event,
            in: bytes,
            receivedAt: isReceiver ? clock : nil,
            isTimed: isTimed,
            isToldAgain: isToldAgain
        )
        var increments = groups.increments(of: named ?? 0) &- earlier
        observe(time, of: event, in: named ?? 0)
        if let address = CycleAddress(event, schedule: schedule, lookup.timed),
            let (found, change) = slot(for: event, at: address, lookup)
        {
            var slot = found
            var terms = closingTerms
            let group = group(of: slot, named)
            if change.isNewPass { takeNearer(to: slot, terms, in: group) }
            if change.hasWaited { countWaiting(at: slot, terms, in: group) }
            var openHalf = isReceiver ? cycles.half(at: slot) : nil
            var half = openHalf
            if isReceiver, cycles.mayBelongElsewhere(event, slot) {
                half = .undated
                terms.waiting = installations.waiting(.undated, of: installation)
            } else if let half {
                terms.waiting = installations.waiting(half, of: installation)
                terms.waiting.formIntersection(cycles.stagesOfHalf(at: slot))
            }
            let waiting = waitingStages(like: event, at: slot, terms)
            var before = groups.tally(of: group)
            var start = groups.increments(of: group)
            if !cycles.apply(event, in: bytes, at: slot, terms, limit: factLimit, into: &groups[group]) {
                evict(slot)
                slot = open(address, base: event.timestamp)
                openHalf = isReceiver ? cycles.half(at: slot) : nil
                cycles.update(slot) { $0.group = UInt8(group) }
                before = groups.tally(of: group)
                start = groups.increments(of: group)
                _ = cycles.apply(event, in: bytes, at: slot, terms, limit: factLimit, into: &groups[group])
            }
            if let half { countHalf(half, at: slot, isOpen: openHalf != nil) }
            let grown = groups.increments(of: group) &- start
            let counted = grown == 0 ? StageTally() : groups.tally(of: group) - before
            observe(counted, by: event, at: slot, in: group, bytes)
            reconcile(counted, by: event, at: slot, in: group)
            increments &+= groups.increments(of: group) &- start
            note(event, increments, at: slot, waiting: waiting, terms)
            updateInstallation(installation, with: event, due: cycles[slot].due, in: bytes)
            if event.kind == .prefetchScheduled {
                updateTask(of: slot)
                resumeJudging(slot)
            }
        } else {
            note(event, increments)
            updateInstallation(installation, with: event, due: nil, in: bytes)
        }
        switch event.kind {
        case .notificationDenied, .permissionGranted: recordPermission(event, installation)
        case .pluginError where PluginErrorCode(event, in: bytes) == .notificationsDenied:
            recordPermission(event, installation)
        case .schedulePersisted, .cacheCleared, .apiCall, .prefetchSuccess, .contentCached:
            recordContent(event, schedule: schedule, installation, in: bytes)
        default: break
        }
        if event.tellsHistory { recordHistory(event, of: installation, schedule: schedule, in: bytes) }
        if !event.clientCounters.isEmpty { apply(snapshot: event, of: installation, in: named ?? 0, bytes) }
    }

    /// The group that a cycle counts in: the one its events named last.
    private mutating func group(of slot: Int, _ named: Int?) -> Int {
        guard let named else { return Int(cycles[slot].group) }
        if cycles[slot].group != UInt8(named) { cycles.update(slot) { $0.group = UInt8(named) } }
        return named
    }

    var closingTerms: ClosingTerms {
        ClosingTerms(
            clockSeconds: seconds(clock),
            graceSeconds: UInt32(clamping: limits.closingGraceSeconds),
            openSeconds: UInt32(clamping: limits.openAfterNotificationSeconds),
            countsByArrival: isReceiver
        )
    }

    /// Stage counts are bytes, so 255 facts are the most.
    var factLimit: Int { min(limits.factsPerCycle, 255) }
}
