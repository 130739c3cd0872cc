// SPDX-License-Identifier: Apache-2.0

extension DeliverySession {
    /// A new connection stands and the journal is open.
    mutating func connected(now: UInt64) {
        guard phase == .connecting else { return }
        attempt += 1
        statistics.synchronisations += 1
        phase = .marking(.pair, deadline: now + limits.markerTimeout, isBlocked: false)
    }

    /// Nothing listens on journald's socket.
    mutating func connectionFailed(now: UInt64) {
        fail(now: now, pause: limits.connecting)
    }

    /// The datagram of markers that was asked for is in journald's queue.
    mutating func markersSent(now: UInt64) {
        guard case .marking(let datagram, let deadline, _) = phase else { return }
        switch datagram {
        case .pair: phase = .marking(.last, deadline: deadline, isBlocked: false)
        case .last: phase = .awaitingMarkers(deadline: now + limits.markerTimeout)
        }
    }

    /// journald's queue has no room for a marker.
    mutating func markersBlocked() {
        guard case .marking(let datagram, let deadline, _) = phase else { return }
        phase = .marking(datagram, deadline: deadline, isBlocked: true)
    }

    /// The last marker has come back.
    ///
    /// - Parameter provesBatching: Whether the second entry of the first datagram has come back too.
    mutating func markersFound(provesBatching: Bool) {
        guard case .awaitingMarkers = phase else { return }
        unanswered = 0
        statistics.isBatchingProven = provesBatching
        phase = .scanning
    }

    /// An entry was found in the journal by the scan.
    mutating func found(_ sequence: UInt64) {
        _ = learn(sequence)
    }

    /// All that stands in the journal has been told by ``found(_:)``.
    mutating func scanned(now: UInt64) {
        guard phase == .scanning else { return }
        if handled > confirmed {
            let lost = handled - confirmed - standing.count(in: confirmed + 1...handled)
            if lost > 0 {
                statistics.lost += lost
                losses = min(losses + 1, 16)
                confirmedSinceLoss = 0
                resumeTime = now + limits.resending.pause(failures: losses, random: random.next())
            }
        }
        handled = confirmed
        log.removeAll()
        isBlocked = false
        isDrained = false
        hasGap = false
        lastProgress = now
        phase = .streaming
    }
}
