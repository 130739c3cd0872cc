// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LedgerState

@Suite("What a verdict says")
struct CycleVerdictTests {
    @Test("a cycle verdict is one line of JSON")
    func cycleVerdictJson() {
        #expect(
            String(decoding: CycleVerdict.drifted.json, as: UTF8.self) == #"""
                {"event":"cycle_closed","timestamp":"2025-11-15T06:07:00Z","scheduledFor":"2025-11-15T05:53:00Z",\#
                "cycle":"0123456789abcdef","outcome":"used","violations":[{"violation":"drift_exceeded","bucket":"C",\#
                "detail":"delivered 240 s after its time; iOS tolerates 180 s"}]}
                """#
        )
        var failed = CycleVerdict.bare
        failed.outcome = .failed
        failed.failureReason = .network
        #expect(
            String(decoding: failed.json, as: UTF8.self)
                == #"{"event":"cycle_closed","timestamp":"1970-01-01T00:00:00Z","outcome":"failed","reason":"NETWORK","violations":[]}"#
        )
    }

    @Test("a cycle verdict is JSON whatever its sentences hold", arguments: 0..<30 as Range<UInt64>)
    func anySentences(seed: UInt64) throws {
        var random = SplitMix64(seed)
        let verdict = CycleVerdict.random(&random)
        #expect(!verdict.json.contains(UInt8(ascii: "\n")))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(verdict.json)) as? [String: Any])
        let violations = try #require(object["violations"] as? [[String: String]])
        #expect(violations.map { $0["detail"] } == verdict.violations.map(\.detail))
        #expect(violations.map { $0["violation"] } == verdict.violations.map { "\($0.kind.name)" })
    }

    @Test("a cycle verdict is an error where hashes differ, else a warning", arguments: ViolationKind.allCases)
    func priority(kind: ViolationKind) {
        var verdict = CycleVerdict.drifted
        verdict.violations.append(CycleViolation(kind: kind, detail: ""))
        let isMismatch = kind == .contentHashMismatch || kind == .scheduleHashMismatch
        #expect(verdict.journalPriority == (isMismatch ? 3 : 4))
    }

    @Test("a cycle verdict has a name that no client can send")
    func name() {
        let line = #"{"event":"cycle_closed","scheduleId":"a","timestamp":"2025-11-15T05:36:40Z"}"#
        let decoded = EventText.decode([line])
        #expect(decoded.events.count == 0)
        #expect(decoded.rejections.count == 1)
    }

    @Test("a cycle verdict names its hash in sixteen digits", arguments: [0, 1, 0xFEDC_BA98_7654_3210, UInt64.max])
    func digits(word: UInt64) {
        let digits = String(decoding: [UInt8](hexadecimal: word), as: UTF8.self)
        #expect(digits.count == 16)
        #expect(UInt64(digits, radix: 16) == word)
        #expect(digits == digits.lowercased())
    }
}

@Suite("The records of verdicts")
struct VerdictRecordTests {
    static func bytes(_ verdicts: [CycleVerdict]) -> [UInt8] {
        var bytes: [UInt8] = []
        for verdict in verdicts { VerdictRecord.append(verdict, to: &bytes) }
        return bytes
    }

    static func problem(_ bytes: [UInt8]) -> VerdictRecordError.Problem? {
        do {
            _ = try CycleVerdict.read(bytes)
            return nil
        } catch {
            return error.problem
        }
    }

    @Test(
        "verdict records are read back as they were written, one behind the other",
        arguments: 0..<50 as Range<UInt64>
    )
    func verdictRecordRoundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed)
        let verdicts = [.drifted, .bare] + (0..<20).map { _ in CycleVerdict.random(&random) }
        #expect(try CycleVerdict.read(Self.bytes(verdicts)) == verdicts)
    }

    @Test("verdict records have a form that does not change")
    func form() {
        let drifted = CycleVerdict.drifted
        let expected: [UInt8] =
            [1, 80, 0] + [0x00, 0x29, 0x14, 0xEC, 0x9B, 0x43, 0x06, 0x00] + [3]
            + [0x00, 0xC7, 0x02, 0xBA, 0x9B, 0x43, 0x06, 0x00] + [0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01]
            + [0, 1, 15, 51] + Array("delivered 240 s after its time; iOS tolerates 180 s".utf8)
        #expect(Self.bytes([drifted]) == expected)
    }

    @Test("verdict records cut anywhere end in an error, behind those that are whole")
    func cut() throws {
        var random = SplitMix64(7)
        let verdicts = (0..<6).map { _ in CycleVerdict.random(&random) }
        let ends = verdicts.indices.map { Self.bytes(Array(verdicts[...$0])).count }
        let bytes = Self.bytes(verdicts)
        for length in 0..<bytes.count {
            let cut = Array(bytes[..<length])
            var cursor = VerdictCursor()
            for (verdict, end) in zip(verdicts, ends) where end <= length {
                guard case .cycle(verdict)? = try cursor.next(in: cut.span) else {
                    Issue.record("a whole record is not read")
                    break
                }
            }
            guard !ends.contains(length), length > 0 else { continue }
            let offset = cursor.offset
            #expect(throws: VerdictRecordError(offset: offset, problem: .cutShort)) { try cursor.next(in: cut.span) }
            #expect(cursor.offset == offset)
        }
    }

    @Test("verdict records that this version does not know are told from damage")
    func unknown() {
        let bytes = Self.bytes([.drifted])
        func changed(_ offset: Int, to byte: UInt8) -> [UInt8] {
            var changed = bytes
            changed[offset] = byte
            return changed
        }
        #expect(Self.problem(changed(0, to: 3)) == .unknownSubject(3))
        #expect(Self.problem(changed(11, to: 16)) == .unknownFields)
        #expect(Self.problem(changed(28, to: 9)) == .unknownOutcome(9))
        #expect(Self.problem(changed(30, to: 200)) == .unknownRule(200))
        #expect(Self.problem(changed(10, to: 0x7F)) == .timeOutOfRange)
        #expect(Self.problem(changed(32, to: 0xFF)) == .brokenText)
        #expect(Self.problem(changed(29, to: 0)) == .wrongLength)
        let failed = CycleVerdict(closedAt: .init(seconds: 1), outcome: .failed, failureReason: .auth, violations: [])
        var reason = Self.bytes([failed])
        reason[13] = 4
        #expect(Self.problem(reason) == .unknownReason(4))
        let message = "\(VerdictRecordError(offset: 3, problem: .unknownSubject(3)))"
        #expect(message.contains("byte 3 of the row, found one about the unknown subject 3"))
    }

    @Test("verdict records of any bytes are verdicts or an error")
    func verdictRecordAnyBytes() {
        var random = SplitMix64(9)
        var readable = 0
        for _ in 0..<20_000 {
            var bytes = Self.bytes([.random(&random)])
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            guard let verdicts = try? CycleVerdict.read(bytes) else { continue }
            readable += 1
            #expect(Self.bytes(verdicts).count <= bytes.count)
        }
        #expect(readable > 1_000)
    }

    @Test("verdict records are bounded, whatever the sentences; one tick's fit into a row")
    func verdictRecordBounded() throws {
        let long = String(repeating: "ü🕛", count: 1_000)
        var verdict = CycleVerdict.drifted
        verdict.failureReason = .other
        verdict.violations = ViolationKind.allCases.map { CycleViolation(kind: $0, detail: long) }
        let bytes = Self.bytes([verdict])
        #expect(bytes.count <= VerdictRecord.maximumBytes)
        let read = try #require(try CycleVerdict.read(bytes).first)
        #expect(read.violations.map(\.kind) == ViolationKind.allCases)
        for violation in read.violations {
            #expect(long.hasPrefix(violation.detail))
            #expect(violation.detail.utf8.count > VerdictRecord.maximumDetailBytes - 4)
        }
    }
}
