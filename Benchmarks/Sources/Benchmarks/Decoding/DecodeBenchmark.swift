// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LedgerState
internal import TelemetryEvents

/// JSON to events on one core, against Foundation's `JSONDecoder` on the same lines.
enum DecodeBenchmark: Benchmark {
    static let name = "decode"
    private static let peerLines = 20_000

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let key = try InstallationKey(directory: try room.directory("key"))
        let requests = room.cycles
        let events = requests.reduce(0) { $0 + $1.events }
        let bytes = requests.reduce(0) { $0 + $1.body.count }
        let ofOneSender = EventLines(count: 200_000, kind: .wholeCycles, cyclesInARow: 200)
        return [
            Row(
                "decode NDJSON of \(bytes / events) bytes an event, one core",
                "events/s",
                try rates(requests, key),
                peer: Row.Peer("Foundation JSONDecoder", try foundation(requests))
            ),
            Row(
                "the same, each body of one installation",
                "events/s",
                try rates(ofOneSender.requests(eventsPerRequest: 1_000), key)
            ),
        ]
    }

    /// Events a second of our decoder, body by body.
    private static func rates(_ requests: [PreparedRequest], _ key: InstallationKey) throws -> [Double] {
        let events = requests.reduce(0) { $0 + $1.events }
        let identityKey = key.identityKey
        let now = Timestamp(seconds: Int64(Date().timeIntervalSince1970))
        return try Stopwatch.times(5) {
            var found = 0
            for request in requests {
                let decoded = JSONEventDecoder.decode(
                    request.bytes.span.extracting(request.body),
                    framing: .lines,
                    receivedAt: now,
                    pseudonyms: key,
                    identityKey: identityKey
                )
                found += decoded.events.count
            }
            guard found == events else { throw BenchmarkFailure("decoded \(found) of \(events) events") }
        }
        .map { Double(events) / $0 }
    }

    /// Events a second of `JSONDecoder`, line by line.
    static func foundation(_ requests: [PreparedRequest]) throws -> [Double] {
        let lines = requests.prefix(peerLines / 1_000).flatMap(\.lines).map { Data($0) }
        let decoder = JSONDecoder()
        return try Stopwatch.times(3) {
            for line in lines { _ = try decoder.decode(DecodableEvent.self, from: line) }
        }
        .map { Double(lines.count) / $0 }
    }
}
