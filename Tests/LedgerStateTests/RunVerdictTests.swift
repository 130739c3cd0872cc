// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import RefreshLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LedgerState

@Suite("The verdict on a run")
struct RunVerdictTests {
    static func bytes(_ verdicts: [RunVerdict]) -> [UInt8] {
        var bytes: [UInt8] = []
        for verdict in verdicts { VerdictRecord.append(verdict, to: &bytes) }
        return bytes
    }

    static func problem(_ bytes: [UInt8]) -> VerdictRecordError.Problem? {
        do {
            _ = try RunVerdict.read(bytes)
            return nil
        } catch {
            return error.problem
        }
    }

    @Test("a run's verdict is one line of JSON")
    func runVerdictJson() {
        #expect(
            String(decoding: RunVerdict.notified.json, as: UTF8.self) == #"""
                {"event":"run_closed","timestamp":"2025-11-15T06:07:00Z","begin":"2025-11-15T05:53:00Z",\#
                "end":"2025-11-15T05:53:03Z","cycle":"0123456789abcdef","outcome":"completed","violations":[\#
                {"violation":"notified_too_soon","bucket":"A","detail":"notified 50 days after the last test; \#
                a test is due after 90 days"}]}
                """#
        )
        var skipped = RunVerdict.notified
        (skipped.end, skipped.installation, skipped.outcome) = (nil, nil, .skipped)
        (skipped.skipReason, skipped.violations) = (.noNetwork, [])
        #expect(
            String(decoding: skipped.json, as: UTF8.self) == #"""
                {"event":"run_closed","timestamp":"2025-11-15T06:07:00Z","begin":"2025-11-15T05:53:00Z",\#
                "outcome":"skipped","reason":"NO_NETWORK","violations":[]}
                """#
        )
    }

    @Test("a run's verdict has a name that no client can send")
    func name() {
        let decoded = EventText.decode([#"{"event":"run_closed","timestamp":"2025-11-15T05:36:40Z"}"#])
        #expect(decoded.events.count == 0)
        #expect(decoded.rejections.count == 1)
    }

    @Test("records of runs are read back between those of cycles", arguments: 0..<50 as Range<UInt64>)
    func runVerdictRoundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed)
        var bytes: [UInt8] = []
        var (cycles, runs): ([CycleVerdict], [RunVerdict]) = ([], [.notified])
        VerdictRecord.append(runs[0], to: &bytes)
        for _ in 0..<20 {
            if Bool.random(using: &random) {
                cycles.append(.random(&random))
                VerdictRecord.append(cycles[cycles.count - 1], to: &bytes)
            } else {
                runs.append(.random(&random))
                VerdictRecord.append(runs[runs.count - 1], to: &bytes)
            }
        }
        #expect(try RunVerdict.read(bytes) == runs)
        #expect(try CycleVerdict.read(bytes) == cycles)
    }

    @Test("the record of a run has a form that does not change")
    func runVerdictForm() {
        let sentence = Array("notified 50 days after the last test; a test is due after 90 days".utf8)
        let expected: [UInt8] =
            [2, 102, 0] + [0x00, 0x29, 0x14, 0xEC, 0x9B, 0x43, 0x06, 0x00] + [3]
            + [0x00, 0xC7, 0x02, 0xBA, 0x9B, 0x43, 0x06, 0x00] + [0xC0, 0x8D, 0x30, 0xBA, 0x9B, 0x43, 0x06, 0x00]
            + [0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01] + [0, 1, 1, UInt8(sentence.count)] + sentence
        #expect(Self.bytes([.notified]) == expected)
    }

    @Test("the record of a run that this version does not know, or that is cut, is told from a sound one")
    func unknownRun() {
        let bytes = Self.bytes([.notified])
        func changed(_ offset: Int, to byte: UInt8) -> [UInt8] {
            var changed = bytes
            changed[offset] = byte
            return changed
        }
        #expect(Self.problem(bytes) == nil)
        #expect(Self.problem(changed(11, to: 8)) == .unknownFields)
        #expect(Self.problem(changed(36, to: 9)) == .unknownOutcome(9))
        #expect(Self.problem(changed(38, to: 200)) == .unknownRule(200))
        #expect(Self.problem(changed(19, to: 0x7F)) == .timeOutOfRange)
        #expect(Self.problem(changed(40, to: 0xFF)) == .brokenText)
        #expect(Self.problem(changed(37, to: 0)) == .wrongLength)
        for length in 1..<bytes.count { #expect(Self.problem(Array(bytes[..<length])) == .cutShort) }
        var skipped = RunVerdict.notified
        skipped.skipReason = .noNetwork
        var reason = Self.bytes([skipped])
        reason[37] = 77
        #expect(Self.problem(reason) == .unknownReason(77))
    }

    @Test("the record of a run is bounded, whatever the sentences")
    func runVerdictBounded() throws {
        let long = String(repeating: "ü🕛", count: 1_000)
        var verdict = RunVerdict.notified
        verdict.skipReason = .noNetwork
        verdict.violations = RefreshViolationKind.allCases.map { RefreshViolation(kind: $0, detail: long) }
        let bytes = Self.bytes([verdict])
        #expect(bytes.count <= VerdictRecord.maximumBytes)
        let read = try #require(try RunVerdict.read(bytes).first)
        #expect(read.violations.map(\.kind) == RefreshViolationKind.allCases)
    }
}
