// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Lines of journal entries")
struct LogCarrierTests {
    private static let source = Pseudonym(high: 0, low: 7)

    private static var options: LogDecoderOptions {
        var options = LogDecoderOptions(isLive: true)
        options.source = source
        return options
    }

    private static func log(_ result: String) -> String {
        """
        [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T12:00:00Z)
        [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T11:55:00Z)
        [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
        [DNP-FETCH] Starting fetch (scheduleId=a)
        [DNP-FETCH] \(result)
        {"event":"prefetch_completed","scheduleId":"a","timestamp":"2025-11-15T11:55:04Z"}

        """
    }

    /// Entries with one line each.
    private static func entries(
        _ log: String,
        stream: UInt64,
        device: String,
        namesDevice: Bool = false
    ) -> [(line: [UInt8], carrier: LineCarrier)] {
        log.split(separator: "\n").map { line in
            var carrier = LineCarrier(
                end: 0,
                writtenAt: Timestamp(seconds: 1_763_207_700),
                stream: stream,
                device: Array(device.utf8)
            )
            carrier.namesDevice = namesDevice
            return (Array("\(line)\n".utf8), carrier)
        }
    }

    private func installations(
        of entries: [(line: [UInt8], carrier: LineCarrier)],
        perPiece: Int = .max,
        _ decoder: LogDecoder = logDecoder(options)
    ) throws -> [Pseudonym?: [EventKind]] {
        var decoder = decoder
        var found: [Pseudonym?: [EventKind]] = [:]
        var rest = entries[...]
        func note(_ decoded: DecodedEvents) throws {
            var cursor = EventCursor()
            while let event = try cursor.next(in: decoded.events.bytes.span) {
                found[event.installation, default: []].append(event.kind)
            }
        }
        while !rest.isEmpty {
            var bytes: [UInt8] = []
            var carriers: [LineCarrier] = []
            for entry in rest.prefix(perPiece) {
                bytes += entry.line
                carriers.append(entry.carrier)
                carriers[carriers.count - 1].end = bytes.count
            }
            rest = rest.dropFirst(perPiece)
            try note(decoder.decode(bytes.span, readAt: readingTime, carriers: carriers))
        }
        try note(decoder.flush(readAt: readingTime))
        return found
    }

    private static let phones = zip(
        [
            "Fetch success (status=200)", "Fetch failed: error=NetworkError, willRetry=false",
            "Fetch failed: error=AuthError, willRetry=false",
        ],
        1...3
    ).map { (entries(log($0), stream: UInt64($1), device: "host-app\($1)"), $1) }.map(\.0)

    private static let story: [EventKind] = [
        .schedulePersisted, .prefetchScheduled, .prefetchExecuted, .prefetchStarted, .prefetchSuccess,
        .prefetchCompleted,
    ]

    @Test(
        "programs of the journal are devices of their own, behind each other and at once",
        arguments: [1, 4, Int.max]
    )
    func programsAreDevices(perPiece: Int) throws {
        let behind = Self.phones.flatMap { $0 }
        let atOnce = Self.phones[0].indices.flatMap { index in Self.phones.map { $0[index] } }
        for entries in [behind, atOnce] {
            let found = try installations(of: entries, perPiece: perPiece)
            #expect(found.count == 3)
            #expect(found.values.allSatisfy { $0.count == Self.story.count && $0.contains(.prefetchExecuted) })
            #expect(found.values.count { $0.contains(.prefetchFailure) } == 2)
        }
    }

    @Test("a field that names the device wins over the names in lines, and over programs")
    func fieldNamesTheDevice() throws {
        let line = "Nov 15 11:50:00 other app[7]: [DNP-STORAGE] Cached content for scheduleId=a"
        let named =
            Self.entries(Self.log("Fetch success"), stream: 1, device: "phone", namesDevice: true)
            + Self.entries(line, stream: 2, device: "phone", namesDevice: true)
        #expect(try installations(of: named).count == 1)
        let unnamed =
            Self.entries(Self.log("Fetch success"), stream: 1, device: "host-app")
            + Self.entries(line, stream: 1, device: "host-app")
        #expect(try installations(of: unnamed).count == 2)
    }

    @Test("the open cycles of programs that were processes of one device go on as they were")
    func programsWereProcesses() throws {
        var before = logDecoder()
        var entries: [(line: [UInt8], carrier: LineCarrier)] = []
        for phone in Self.phones {
            var bytes: [UInt8] = []
            for entry in phone.prefix(2) { bytes += entry.line }
            var carrier = phone[0].carrier
            carrier.end = bytes.count
            carrier.device = []
            _ = before.decode(bytes.span, readAt: readingTime, carriers: [carrier])
            entries += phone[2..<5]
        }
        let after = try LogDecoder(
            restoring: before.state,
            Self.options,
            pseudonyms: PlainPseudonyms(),
            identityKey: IdentityKey(1, 2)
        )
        #expect(after.binder.binding.devices.map(\.cycles.count).reduce(0, +) > 0)
        // The first of them opened the cycle that all had before.
        let found = try installations(of: entries, perPiece: 1, after)
        #expect(found[nil]?.contains(.prefetchExecuted) == true)
        #expect(found.count == 3)
    }
}
