// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LogValidation
@testable import PrefetchLifecycle

@Suite("The verdict")
struct VerdictTests {
    @Test("without a cycle is empty, also in a strict judgement")
    func empty() {
        let judgement = JudgementSamples.judgement([])
        #expect(judgement.verdict() == .empty)
        #expect(judgement.verdict(strict: true) == .empty)
    }

    @Test("depends on the bucket of what a cycle broke", arguments: ViolationKind.allCases)
    func buckets(kind: ViolationKind) {
        let judgement = JudgementSamples.judgement([
            JudgementSamples.cycle(), JudgementSamples.cycle(violations: [kind]),
        ])
        #expect(judgement.verdict() == (kind.bucket == .a ? .incoherent : .coherent))
        #expect(judgement.verdict(strict: true) == (kind.bucket == .c ? .coherent : .incoherent))
    }

    @Test("takes cycles into account that are not listed")
    func omitted() {
        var judgement = JudgementSamples.judgement([JudgementSamples.cycle(violations: [.expired])], omitted: 3)
        #expect(judgement.verdict() == .coherent)
        judgement.totals.violations[Int(ViolationKind.duplicateTerminal.rawValue)] += 1
        #expect(judgement.verdict() == .incoherent)
    }

    @Test("requirements are met by one cycle, and by a stage as by an outcome")
    func requirements() {
        let judgement = JudgementSamples.judgement([
            JudgementSamples.cycle(), JudgementSamples.cycle(outcome: .fallback),
        ])
        #expect(judgement.unmet(Requirement.allCases) == [.failed, .missed, .incomplete])
        #expect(JudgementSamples.judgement([]).unmet([.used]) == [.used])
    }

    @Test("requirements are read from lists, in any case, and refused when one is unknown")
    func lists() {
        #expect(Requirement.list("used") == [.used])
        #expect(Requirement.list("scheduled, Executed,SUCCESS") == [.scheduled, .executed, .success])
        for text in ["", ",", "used,", "use", "used delivered"] { #expect(Requirement.list(text) == nil, "\(text)") }
    }
}
