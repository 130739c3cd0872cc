// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation
@testable import PrefetchLifecycle

@Suite("Rejected events and several installations in a judgement")
struct RejectedEventTests {
    private func judged(_ files: String..., joins: Bool = false) throws -> Judgement {
        let directory = try TemporaryDirectory()
        let paths = try files.enumerated().map { number, text in
            let path = directory.file("\(number).log")
            try Files.write(Array(text.utf8), to: path)
            return path
        }
        var options = try JudgementOptions(LineFormat(timezone: "UTC"))
        options.joins = joins
        return try JudgementRun(options).judge(paths)
    }

    private func object(_ judgement: Judgement) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(judgement.json())) as? [String: Any])
    }

    private static let good =
        #"{"event":"prefetch_scheduled","scheduleId":"a","timestamp":"2025-11-15T05:40:00Z"}"#
    private static let bad =
        #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:56:00Z","ttl":-1}"#
    private static let line =
        "2025-11-15T05:40:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T06:00:00Z"

    @Test(
        "a rejected event makes the verdict incoherent, and is listed with its index and its reason",
        arguments: [
            (text: "\(good)\n\(bad)\n\(good)\n", index: 1), (text: "[\(good),\(bad)]", index: 1),
            (text: "{\"events\":[\(bad),\(good)]}", index: 0), (text: "\(line)\n\(line)\n\(bad)\n\(good)\n", index: 2),
        ]
    )
    func rejectedEvent(text: String, index: Int) throws {
        let judgement = try judged(text)
        #expect(judgement.verdict() == .incoherent)
        #expect(judgement.faultCount(strict: true) == 0)
        let rejected = try #require(try object(judgement)["rejected"] as? [[String: Any]])
        #expect(rejected.count == 1 && rejected[0]["index"] as? Int == index && rejected[0]["file"] == nil)
        let reason = "ttl: expected a whole number of seconds from 0 to 315360000, found one out of range"
        #expect(rejected[0]["reason"] as? String == reason)
        #expect(judgement.text().contains("Rejected events\n  "))
        #expect(judgement.text().contains("0.log:\(index + 1): \(reason)\n"))
        #expect(judgement.verdictLine().hasPrefix("incoherent: 1 rejected event in 1 cycle ("))
        #expect(judgement.junit().contains("<testcase name=\"rejected event \(index + 1)\""))
        #expect(judgement.junit().contains("failures=\"1\""))
    }

    @Test(
        "a document of which every event is rejected is judged, whatever its form",
        arguments: [#"[\#(bad)]"#, #"{"events":[\#(bad)]}"#, bad, #"[{"event":"glory"}]"#]
    )
    func onlyRejectedEvents(text: String) throws {
        let judgement = try judged(text)
        #expect(judgement.verdict() == .incoherent)
        let rejected = try #require(try object(judgement)["rejected"] as? [[String: Any]])
        #expect(rejected.map { $0["index"] as? Int } == [0])
    }

    @Test("a log whose first line is a rejected envelope keeps its lines")
    func rejectedEnvelopeBeforeLines() throws {
        let judgement = try judged("{\"events\":[\(Self.bad)]}\n\(Self.line)\n")
        #expect(judgement.rejectedEvents == 1 && judgement.lines.recognised == 1)
        let line =
            #"{"event":"[DNP-FETCH] Fetch failed (status=503)","timestamp":"2025-11-15T05:40:00Z"}"#
        #expect(try judged(line).totals.failureNetwork == 1)
    }

    @Test("a cycle of the file's own device names the file where others name an installation")
    func ownDeviceAmongOthers() throws {
        let judgement = try judged(
            ["alpha", "beta"].map { host in
                "2025-11-15T05:40:00+0000 \(host) App[1]: [DNP-FETCH] Prefetch scheduled 5 minutes before notification "
                    + "(notificationTime=2025-11-15T06:00:00Z)\n"
            }.joined()
        )
        let cycles = try #require(try object(judgement)["cycles"] as? [[String: Any]])
        #expect(cycles.count == 2)
        #expect(cycles.count { ($0["file"] as? String)?.hasSuffix("0.log") ?? false } == 1)
        #expect(cycles.count { $0["installation"] != nil && $0["file"] == nil } == 1)
        #expect(!judgement.text().contains("FILE"))
    }

    @Test("an input without a rejected event lists none")
    func noRejectedEvent() throws {
        let judgement = try judged(Self.good + "\n")
        #expect(judgement.verdict() == .coherent)
        #expect(try (object(judgement)["rejected"] as? [Any])?.isEmpty == true)
        #expect(!judgement.text().contains("Rejected"))
    }

    @Test("rejected events alone are incoherent, not empty")
    func rejectedAlone() throws {
        let judgement = try judged(Self.bad + "\n" + Self.bad + "\n")
        #expect(judgement.verdictLine() == "incoherent: 2 rejected events in no cycle")
    }

    @Test("of several files a rejected event names its own, and only the first thousand are listed")
    func severalFiles() throws {
        let judgement = try judged(Self.good + "\n", String(repeating: Self.bad + "\n", count: 1_500))
        let told = try object(judgement)
        let rejected = try #require(told["rejected"] as? [[String: Any]])
        #expect(rejected.count == 1_000 && told["rejectedOmitted"] as? Int == 500)
        #expect((rejected[999]["file"] as? String)?.hasSuffix("1.log") == true && rejected[999]["index"] as? Int == 999)
        #expect(judgement.verdictLine().hasPrefix("incoherent: 1500 rejected events in 1 cycle"))
    }

    @Test("cycles name their installation where there are several, and only then")
    func installations() throws {
        let named = ["phone-1", "phone-2"].map {
            #"{"event":"prefetch_scheduled","scheduleId":"a","timestamp":"2025-11-15T05:40:00Z","installationId":"\#($0)"}"#
        }
        let two = try judged(named.joined(separator: "\n"))
        let cycles = try #require(try object(two)["cycles"] as? [[String: Any]])
        let names = Set(cycles.compactMap { $0["installation"] as? String })
        #expect(cycles.count == 2 && names.count == 2 && names.allSatisfy { $0.count == 16 })
        #expect(names.allSatisfy { two.text().contains("of installation \($0)\n") })
        #expect(!String(decoding: two.json(), as: UTF8.self).contains("phone-"))

        let one = try judged(named[0])
        #expect(try (object(one)["cycles"] as? [[String: Any]])?.first?["installation"] == nil)
        // Files are named already.
        let files = try judged(Self.good, Self.good)
        let told = try #require(try object(files)["cycles"] as? [[String: Any]])
        #expect(told.count == 2 && told.allSatisfy { $0["installation"] == nil && $0["file"] != nil })
    }
}
