// SPDX-License-Identifier: Apache-2.0

import Foundation
import LifecycleState
import Synchronization
import TelemetryEvents
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation
@testable import PrefetchLifecycle

extension OneAtATime {
    @Suite("A run over inputs")
    struct JudgementRunTests {
        let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
        }

        func file(_ name: String, _ text: String) throws -> String {
            try Files.write(Array(text.utf8), to: directory.file(name))
            return directory.file(name)
        }

        static func options(_ change: (inout JudgementOptions) -> Void = { _ in }) throws -> JudgementOptions {
            var options = try JudgementOptions(LineFormat(timezone: "UTC"))
            change(&options)
            return options
        }

        /// Events of cycles that are all alike, a minute apart.
        static func cycles(_ numbers: Range<Int>) -> String {
            numbers.map { number in
                let time = Timestamp(seconds: 1_763_185_000 + Int64(number) * 60)
                return ["prefetch_scheduled", "prefetch_executed", "prefetch_success"].map {
                    #"{"event":"\#($0)","scheduleId":"s\#(number)","timestamp":"\#(time)"}"#
                }.joined(separator: "\n") + "\n"
            }.joined()
        }

        @Test(
            "events of many installations come to what one fold makes of them, by platform and version, too",
            arguments: [1, 2, 3, 25]
        )
        func shards(installations: Int) throws {
            let events = (0..<600).flatMap { number -> [String] in
                let time = Timestamp(seconds: 1_763_185_000 + Int64(number) * 60)
                let of = #""installationId":"i\#(number % installations)","timestamp":"\#(time)""#
                let group = #""platform":"\#(number % 3 == 0 ? "android" : "ios")","appVersion":"1.\#(number % 28)""#
                let cycle = #""scheduleId":"s\#(number)",\#(of),\#(group)"#
                return [
                    #"{"event":"prefetch_scheduled",\#(cycle)}"#, #"{"event":"prefetch_executed",\#(cycle)}"#,
                    number % 7 == 0
                        ? #"{"event":"prefetch_failure","reason":"NETWORK",\#(cycle)}"#
                        : #"{"event":"prefetch_success","ttl":60,\#(cycle)}"#,
                    #"{"event":"rolling_window","pending":\#(number % 60),"limit":64,\#(of)}"#,
                    #"{"event":"refresh_checked","properties":{"daysSinceTest":1,"available":false},\#(of)}"#,
                ]
            }
            let bytes = Array((events.joined(separator: "\n") + "\n").utf8)
            let path = try file("many.ndjson", String(decoding: bytes, as: UTF8.self))
            let judgement = try JudgementRun(Self.options()).judge([path])
            let counted = try JudgementRun(Self.options { $0.detail = .counters }).judge([path])

            let pseudonyms = EphemeralPseudonyms()
            let now = Timestamp(seconds: 1_800_000_000)
            let decoded = JSONEventDecoder.decode(
                bytes.span,
                framing: .lines,
                receivedAt: now,
                pseudonyms: pseudonyms,
                identityKey: pseudonyms.identityKey
            )
            var fold = LifecycleFold(
                key: pseudonyms.identityKey,
                keepsClosedCycles: true,
                deduplicates: false,
                isReceiver: false
            )
            try fold.apply(decoded.events.bytes.span, receivedAt: now)
            fold.finish()
            try #require(fold.totals.scheduled == 600 && fold.pendingNotifications.pending > 0)
            for judged in [judgement, counted] {
                #expect(judged.totals == fold.totals)
                #expect(judged.pending == fold.pendingNotifications)
                func groups(_ groups: [LifecycleGroup]) -> [EventGroup: LifecycleTotals] {
                    Dictionary(uniqueKeysWithValues: groups.map { ($0.name, $0.totals) })
                }
                #expect(groups(judged.groups) == groups(fold.totalsByGroup))
                #expect(judged.refresh.events == 600)
            }
            #expect(judgement.cycles.map(\.scheduleId) == (0..<600).map { "s\($0)" })
            let outcomes = Dictionary(grouping: fold.takeClosedCycles(), by: \.outcome).mapValues(\.count)
            #expect(Dictionary(grouping: judgement.cycles, by: \.closed.outcome).mapValues(\.count) == outcomes)
        }

        @Test("a judgement run takes every line of every input once, whatever the inputs are")
        func inputs() throws {
            let lines = try file("a.ndjson", Self.cycles(0..<5_000))
            let document = try file(
                "b.json",
                "[" + Self.cycles(5_000..<5_010).split(separator: "\n").joined(separator: ",") + "]"
            )
            let packed = directory.file("c.gz")
            try Files.write(Program.gzip(Array(Self.cycles(5_010..<5_020).utf8)), to: packed)
            let progress = Mutex<InputProgress>(InputProgress())
            let judgement = try JudgementRun(Self.options()).judge([lines, document, packed]) { latest in
                progress.withLock { $0 = latest }
            }
            #expect(judgement.cycles.count == 5_020)
            #expect(judgement.totals.success == 5_020)
            #expect(judgement.cycles.map(\.scheduleId) == (0..<5_020).map { "s\($0)" })
            #expect(judgement.cycles[4_999].input == 0 && judgement.cycles[5_000].input == 1)
            #expect(judgement.cycles[5_019].input == 2)
            #expect(judgement.inputs.map(\.lines.recognised) == [15_000, 30, 30])
            let last = progress.withLock { $0 }
            #expect(last.lines == 15_060)
            #expect(last.totalBytes == last.bytes)
        }

        @Test("a judgement run is the same wherever its pieces end")
        func judgementRunPieces() throws {
            let text = Self.cycles(0..<20_000)
            #expect(text.utf8.count > 2 * LineChunks.capacity)
            let judgement = try JudgementRun(Self.options()).judge([file("big.ndjson", text)])
            #expect(judgement.totals.scheduled == 20_000 && judgement.totals.success == 20_000)
            #expect(judgement.lines.recognised == 60_000)
        }

        @Test("a judgement run keeps only counters where nothing else is asked for")
        func counters() throws {
            let judgement = try JudgementRun(Self.options { $0.detail = .counters })
                .judge([file("a.ndjson", Self.cycles(0..<10))])
            #expect(judgement.cycles.isEmpty)
            #expect(judgement.totals.scheduled == 10)
        }

        @Test("a judgement run keeps the newest cycles for records, or those of a schedule")
        func testRun() throws {
            let path = try file("a.ndjson", Self.cycles(0..<10))
            let latest = try JudgementRun(Self.options { $0.detail = .testRun(scheduleId: nil) }).judge([path])
            #expect(TestRun(latest, .init())?.cycle.scheduleId == "s9")
            #expect(latest.closedCycles == 10)
            let many = try JudgementRun(Self.options { $0.detail = .testRun(scheduleId: nil) })
                .judge([file("many.ndjson", Self.cycles(0..<3_000))])
            #expect(many.cycles.count == JudgementOptions.recordedCycles)
            #expect(TestRun(many, .init())?.cycle.scheduleId == "s2999")
            #expect(many.closedCycles == 3_000)
            let chosen = try JudgementRun(Self.options { $0.detail = .testRun(scheduleId: "s3") }).judge([path])
            #expect(chosen.cycles.map(\.scheduleId) == ["s3"])
            let none = try JudgementRun(Self.options { $0.detail = .testRun(scheduleId: "s") }).judge([path])
            #expect(TestRun(none, .init()) == nil)
        }

        @Test("a judgement run explains unreadable events of lines and of documents by their place")
        func judgementRunExplanation() throws {
            let good = Self.cycles(0..<1).split(separator: "\n")[0]
            let lines = try file("a.ndjson", "\(good)\n{\"event\":\"glory\"}\n")
            let document = try file("b.json", "[\(good),{\"event\":\"glory\"}]")
            let judgement = try JudgementRun(Self.options { $0.explains = true }).judge([lines, document])
            #expect(judgement.inputs.map { $0.unrecognised.map(\.number) } == [[2], [2]])
            #expect(judgement.unrecognisedLines == 2)
        }

        @Test("a judgement run names the first input that cannot be read")
        func judgementRunUnreadable() throws {
            let path = try file("a.ndjson", Self.cycles(0..<1))
            let error = #expect(throws: InputError.self) {
                try JudgementRun(Self.options()).judge([path, "/nowhere/b.log"])
            }
            #expect(error?.input == "/nowhere/b.log")
        }

        @Test("a judgement run refuses what means nothing")
        func options() {
            #expect(throws: InvalidOption.self) { try LineFormat(named: "morse") }
            #expect(throws: InvalidOption.self) { try JudgementOptions(LineFormat(timezone: "Europe/Nowhere")) }
            for format in LineFormat.names {
                #expect(throws: Never.self) { try LineFormat(named: format, timezone: "UTC") }
            }
        }

        @Test("a judgement run lists so many cycles and counts the others")
        func judgementRunOmitted() throws {
            let pseudonyms = EphemeralPseudonyms()
            let options = try JudgementOptions(LineFormat())
            let folding = InputFolding(options, pseudonyms.identityKey, openCycles: 50)
            var listing = JudgementListing(options, pseudonyms, openCycles: 50, listedCycles: 100)
            let readAt = Timestamp(seconds: 1_800_000_000)
            for start in stride(from: 0, to: 250, by: 25) {
                let decoded = JSONEventDecoder.decode(
                    Array(Self.cycles(start..<start + 25).utf8).span,
                    framing: .lines,
                    receivedAt: readAt,
                    pseudonyms: pseudonyms,
                    identityKey: pseudonyms.identityKey
                )
                listing.add(folding.fold(.events(decoded), readAt: readAt), input: 0, readAt: readAt)
            }
            listing.add(folding.finish(), input: 0, readAt: readAt)
            let judgement = listing.finish()
            #expect(judgement.cycles.count == 100)
            #expect(judgement.cycles.allSatisfy { $0.scheduleId != nil })
            #expect(judgement.omittedCycles == 150)
            #expect(judgement.totals.scheduled == 250)
        }

        @Test("of too many cycles the earliest are listed, whatever the keys of the run")
        func listsTheEarliest() throws {
            let lines = (0..<250).shuffled().map { number in
                let time = Timestamp(seconds: 1_763_185_000 + Int64(number) * 60)
                let of = #""installationId":"i\#(number % 7)","scheduleId":"s\#(number)""#
                return #"{"event":"prefetch_scheduled",\#(of),"timestamp":"\#(time)"}"#
            }
            for _ in 0..<3 {
                let pseudonyms = EphemeralPseudonyms()
                let options = try JudgementOptions(LineFormat())
                let folding = InputFolding(options, pseudonyms.identityKey, openCycles: 1_000)
                var listing = JudgementListing(options, pseudonyms, openCycles: 1_000, listedCycles: 100)
                let readAt = Timestamp(seconds: 1_800_000_000)
                let decoded = JSONEventDecoder.decode(
                    Array(lines.joined(separator: "\n").utf8).span,
                    framing: .lines,
                    receivedAt: readAt,
                    pseudonyms: pseudonyms,
                    identityKey: pseudonyms.identityKey
                )
                listing.add(folding.fold(.events(decoded), readAt: readAt), input: 0, readAt: readAt)
                listing.add(folding.finish(), input: 0, readAt: readAt)
                let judgement = listing.finish()
                #expect(judgement.cycles.map(\.scheduleId) == (0..<100).map { "s\($0)" })
                #expect(judgement.omittedCycles == 150)
            }
        }
    }
}

@Suite("The verdict")
struct VerdictTests {
    @Test("the verdict without a cycle is empty, also in a strict judgement")
    func verdictEmpty() {
        let judgement = JudgementSamples.judgement([])
        #expect(judgement.verdict() == .empty)
        #expect(judgement.verdict(strict: true) == .empty)
    }

    @Test("the verdict depends on the bucket of what a cycle broke", arguments: ViolationKind.allCases)
    func buckets(kind: ViolationKind) {
        let judgement = JudgementSamples.judgement([
            JudgementSamples.cycle(), JudgementSamples.cycle(violations: [kind]),
        ])
        #expect(judgement.verdict() == (kind.bucket == .a ? .incoherent : .coherent))
        #expect(judgement.verdict(strict: true) == (kind.bucket == .c ? .coherent : .incoherent))
    }

    @Test("the verdict takes cycles into account that are not listed")
    func verdictOmitted() {
        var judgement = JudgementSamples.judgement([JudgementSamples.cycle(violations: [.expired])], omitted: 3)
        #expect(judgement.verdict() == .coherent)
        judgement.totals.violations[Int(ViolationKind.duplicateTerminal.rawValue)] += 1
        #expect(judgement.verdict() == .incoherent)
    }

    @Test("requirements are met by one cycle, and by a stage as by an outcome")
    func verdictRequirements() {
        let judgement = JudgementSamples.judgement([
            JudgementSamples.cycle(), JudgementSamples.cycle(outcome: .fallback),
        ])
        let asked: [Requirement] = [.scheduled, .executed, .success, .failure, .used, .delivered, .fallback]
        #expect(judgement.unmet(asked + [.failed, .missed, .incomplete]) == [.failed, .missed, .incomplete])
        #expect(JudgementSamples.judgement([]).unmet([.used]) == [.used])
    }

    @Test("requirements are read from lists, in any case, and refused when one is unknown")
    func lists() {
        #expect(Requirement.list("used") == [.used])
        #expect(Requirement.list("scheduled, Executed,SUCCESS") == [.scheduled, .executed, .success])
        for text in ["", ",", "used,", "use", "used delivered"] { #expect(Requirement.list(text) == nil, "\(text)") }
    }
}
