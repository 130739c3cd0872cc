// SPDX-License-Identifier: Apache-2.0

internal import Journald

/// The entries of peers/journal_sendv.c: with the three fields that the writer adds, 12 of about 350 bytes.
struct SameEntries: JournalSource {
    private static let event: JournalField = "DNP_EVENT"
    private static let scheduleId: JournalField = "DNP_SCHEDULE_ID"
    private static let timestamp: JournalField = "DNP_TIMESTAMP"
    private static let duration: JournalField = "DNP_DURATION_MS"
    private static let status: JournalField = "DNP_HTTP_STATUS"
    private static let platform: JournalField = "DNP_PLATFORM"

    let last: UInt64

    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws {
        var number = sequence
        while number < last, buffer.count < limit, !buffer.isFull {
            number += 1
            let duration = number % 3_000
            let schedule = "daily-\(number % 1_000)"
            let fraction = String(1_000_000 + number % 1_000_000).dropFirst()
            try buffer.append(sequence: number) { entry in
                entry.append(.priority, 6)
                entry.append(.messageID, "5f1c8ea1c0de4e0f9d0a6c8f2b7d4e19" as StaticString)
                entry.append(Self.event, "prefetch_success" as StaticString)
                entry.append(Self.scheduleId, schedule)
                entry.append(Self.timestamp, "2025-11-14T05:48:00.\(fraction)Z")
                entry.append(Self.duration, duration)
                entry.append(Self.status, 200)
                entry.append(Self.platform, "ios" as StaticString)
                entry.append(.message) { bytes in
                    bytes += #"{"event":"prefetch_success","scheduleId":""#.utf8
                    bytes += schedule.utf8
                    bytes += "\",\"duration_ms\":\(duration),\"status\":200,\"seq\":\(number)}".utf8
                }
            }
        }
    }
}
