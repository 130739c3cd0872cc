// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RefreshLifecycle
@testable import TelemetryEvents

/// The same pseudonym for everyone.
private struct OnePseudonym: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym { Pseudonym(high: 1, low: 2) }
}

/// A log of both apps, or analytics events, as the fold sees it after decoding.
@Suite("Logs of the background refresh")
struct RefreshLogTests {
    static let happy = """
        2025-11-15T05:53:00Z [BackgroundRefresh] Background refresh task started
        2025-11-15T05:53:01Z [BackgroundRefresh] Last test was 100 days ago. Available: true
        2025-11-15T05:53:01Z [BackgroundRefresh] Sent test available notification
        2025-11-15T05:53:02Z [BackgroundRefresh] Background refresh completed in 1.25s with success: true
        2025-11-15T05:53:02Z [BackgroundRefresh] Scheduled background refresh for 4.0 hours from now
        """

    static func records(of log: String) throws -> [[UInt8]] {
        var decoder = LogDecoder(LogDecoderOptions(), pseudonyms: OnePseudonym(), identityKey: IdentityKey(3, 4))
        let bytes = Array((log + "\n").utf8)
        let readAt = Timestamp(seconds: 1_763_400_000)
        return [decoder.decode(bytes.span, readAt: readAt), decoder.flush(readAt: readAt)].map(\.events.bytes)
    }

    static func fold(_ log: String) throws -> (totals: RefreshTotals, runs: [ClosedRun]) {
        var fold = RefreshFold(keepsClosedRuns: true, isReceiver: false)
        for records in try records(of: log) { try fold.apply(records.span, receivedAt: start) }
        fold.finish()
        return (fold.totals, fold.takeClosedRuns())
    }

    /// The lines in other wrappers, the events in one reversed order, and all twice.
    static func forms(_ log: String) -> [String] {
        let lines = log.split(separator: "\n").map(String.init)
        let bare = lines.map { String($0.drop { $0 != "[" }) }
        let messages = bare.map { String($0.drop { $0 != "]" }.dropFirst(2)) }
        let times = lines.map { $0.prefix(19).replacing("T", with: " ") }
        return [
            log, lines.reversed().joined(separator: "\n"), (lines + lines).joined(separator: "\n"),
            bare.joined(separator: "\n"),
            zip(times, messages).map { "\($0).000000+0000 AIQ[42:1f2e] [com.aiq.app:BackgroundRefresh] \($1)" }
                .joined(separator: "\n"),
            zip(times, messages).map { "\($0).000000+0000 AIQ[42:1f2e] \($1)" }.joined(separator: "\n"),
            zip(times, messages).map { "\($0.dropFirst(5)).000    42    43 I BackgroundRefresh: \($1)" }
                .joined(separator: "\n"),
        ]
    }

    @Test("a run is counted alike from every wrapper, in reversed order and told twice", arguments: forms(happy))
    func happyRun(log: String) throws {
        let (totals, runs) = try Self.fold(log)
        #expect(totals.runs(.completed) == 1)
        #expect(totals.checks(isAvailable: true) == 1)
        #expect(totals.notifications(.sent) == 1)
        #expect(totals.schedules(.scheduled) == 1)
        #expect(totals.duration.total == 1.25)
        #expect(runs.count == 1)
        #expect(runs.allSatisfy { $0.violations.isEmpty })
    }

    @Test("a second notification five hours later is told")
    func notifiedAgain() throws {
        let log = Self.happy + "\n" + Self.happy.replacing("T05:", with: "T10:")
        for form in Self.forms(log) where !form.hasPrefix("[") {
            #expect(try Self.fold(form).runs.flatMap { $0.violations.map(\.kind) } == [.notifiedAgain])
        }
    }

    @Test("a skipped run in whole seconds is skipped and breaks no rule")
    func skippedRun() throws {
        let log = """
            2025-11-15T05:53:00Z [BackgroundRefresh] Background refresh task started
            2025-11-15T05:53:00Z [BackgroundRefresh] Skipping refresh: User not authenticated
            2025-11-15T05:53:00Z [BackgroundRefresh] Scheduled background refresh for 4.0 hours from now
            """
        for form in Self.forms(log) {
            let (totals, runs) = try Self.fold(form)
            #expect(totals.runs(.skipped) == 1)
            #expect(totals.skipped(.notAuthenticated) == 1)
            #expect(runs.allSatisfy { $0.violations.isEmpty })
        }
    }

    @Test("analytics events that follow the lines of a run add nothing to it")
    func linesAndAnalyticsEvents() throws {
        let log =
            Self.happy + "\n"
            + #"{"event":"backgroundRefreshCompleted","timestamp":"2025-11-15T05:53:02.4Z","properties":{"success":1}}"#
            + "\n" + #"{"event":"backgroundRefreshNotificationSent","timestamp":"2025-11-15T05:53:01.7Z"}"# + "\n"
            + #"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:53:01.7Z"}"#
        let (totals, runs) = try Self.fold(log)
        #expect(totals == (try Self.fold(Self.happy).totals))
        #expect(runs.count == 1)
    }
}
