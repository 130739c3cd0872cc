// SPDX-License-Identifier: Apache-2.0

extension DeliveryDriver {
    /// Makes a new connection and opens the journal anew.
    func connect() {
        socket = nil
        reader = nil
        markerCursor = nil
        hasRead = false
        nextLook = 0
        looks = 0
        vainSends = 0
        lookPause = Self.firstLook
        buffer.removeAll()
        nextEntry = 0
        do {
            socket = try JournalSocket(path: configuration.socketPath)
            connections += 1
        } catch {
            lastError = "\(error)"
            session.connectionFailed(now: MonotonicClock.now())
            return
        }
        do {
            let opened = try JournalReader(configuration.location, scope: .ownEntries)
            _ = try opened.descriptor()
            reader = opened
            session.connected(now: MonotonicClock.now())
            try seekMarkers()
        } catch {
            fail(error)
        }
    }

    func sendMarkers(_ datagram: MarkerDatagram) {
        do {
            let bytes = try markers.datagram(datagram, attempt: session.attempt)
            let result = socket?.send(bytes)
            switch result {
            case .sent:
                vainSends = 0
                session.markersSent(now: MonotonicClock.now())
            case .wouldBlock:
                vainSends += 1
                session.markersBlocked()
            case .absent(let error), .tooLarge(let error):
                fail(JournalSocketError.connect(path: configuration.socketPath, error))
            case nil:
                session.failed(now: MonotonicClock.now())
            }
        } catch {
            fail(error)
        }
    }

    /// Looks whether the last marker has come back, or waits for the time to look.
    func lookForMarkers(until: UInt64) {
        guard MonotonicClock.now() >= nextLook else { return wait(until: min(until, nextLook), forRoom: false) }
        do {
            // libsystemd notices new files, but not a new directory of a namespace.
            looks += 1
            if looks.isMultiple(of: 10) { try reader?.reopen() }
            var places = try readMarkers()
            if places.contains(3), !places.contains(2) {
                try reader?.reopen()
                places = try readMarkers()
            }
            guard places.contains(3) else {
                nextLook = MonotonicClock.now() + lookPause
                lookPause = min(lookPause * 2, Self.longestLook)
                if nextLook >= until { lastError = unansweredMarkers }
                return
            }
            lookPause = Self.firstLook
            session.markersFound(provesBatching: places.contains(2))
        } catch {
            fail(error)
        }
    }

    private var unansweredMarkers: String {
        """
        journald took a marker and didn't store it in time: it may be stalled, dropping entries (RateLimitBurst=, \
        MaxLevelStore=, Storage=, a full disk), or storing them where this process doesn't read \
        (\(configuration.location))
        """
    }

    private func seekMarkers() throws(JournalReaderError) {
        let id = markers.id(attempt: session.attempt)
        try reader?.setMatches([.equal(DeliveryMarkers.idField, id)])
        try reader?.seekToHead()
    }

    /// The places of this synchronisation's markers in the journal. The index finds them, wherever they stand.
    private func readMarkers() throws(JournalReaderError) -> Set<UInt64> {
        guard let reader else { return [] }
        try reader.process()
        try reader.seekToHead()
        var places: Set<UInt64> = []
        var entries = 0
        while entries < 16, try reader.next() {
            entries += 1
            guard let place = try reader.number(of: DeliveryMarkers.placeField) else { continue }
            places.insert(place)
            if place == 3 { markerCursor = try reader.cursor() }
        }
        return places
    }
}

extension JournalScope {
    /// The files that this process' own entries may be in: journald keeps those of users other than system users
    /// apart.
    static let ownEntries: JournalScope = [.localOnly, .system, .currentUser]
}
