// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import LogInput
@testable import PrefetchLifecycle
@testable import TextOutput

@Suite("A judgement as text")
struct JudgementTextTests {
    @Test("is a table with what was broken, counters, lines, and the verdict last")
    func whole() {
        let judgement = JudgementSamples.judgement([
            JudgementSamples.cycle(),
            JudgementSamples.cycle(
                "a-longer-id",
                outcome: .fallback,
                violations: [.duplicateTerminal, .driftExceeded]
            ),
        ])
        let expected = """
            SCHEDULE     NOTIFICATION          OUTCOME     scheduled  executed  success  used  delivered  REASON
            notif-1      2025-11-15T05:53:00Z  used            ✓         ✓         ✓      ✓        ✓      -
            a-longer-id  2025-11-15T05:53:00Z  fallback        ✓         ✓         ✗      ✗        ✓      NETWORK
                violation A duplicate_terminal: what happened
                note C drift_exceeded: what happened

            Counters
              dnp_prefetch_scheduled_total                  2
              dnp_prefetch_executed_total                   2
              dnp_prefetch_success_total                    1
              dnp_prefetch_failure_total{reason="NETWORK"}  1
              dnp_prefetch_failure_total{reason="AUTH"}     0
              dnp_prefetch_failure_total{reason="SYSTEM"}   0
              dnp_prefetch_used_for_notification_total      1

            Lines  10 read, 7 recognised, 2 foreign, 1 unrecognised

            incoherent: 1 violation in 2 cycles (1 used, 1 fallback)

            """
        #expect(judgement.text() == expected)
    }

    @Test("says that there is nothing")
    func empty() {
        #expect(Judgement().text().hasSuffix("\nempty: the input holds no lifecycle event\n"))
    }

    @Test("explains what was not recognised, and how much more there is")
    func explanation() {
        var judgement = JudgementSamples.judgement([JudgementSamples.cycle()])
        judgement.inputs[0].lines.unrecognised = 3
        let text = judgement.text(explains: true)
        #expect(
            text.contains(
                """
                Unrecognised lines
                  device.log:4: no known form begins like this
                      Fetch flew
                  and 2 more

                """
            )
        )
        #expect(text.split(separator: "\n").last == "coherent: 1 cycle (1 used)")
    }

    @Test("never lets an id or a sentence reach the terminal as it came")
    func hostile() {
        let hostile = "\u{1B}]0;title\u{7}\r\n\u{202E}\u{9B}31m\u{2028}"
        let cycle = JudgementSamples.cycle(hostile, violations: [.expired], detail: hostile)
        var judgement = JudgementSamples.judgement([cycle], inputs: [hostile])
        judgement.inputs[0].unrecognised[0].text = hostile
        let text = judgement.text(explains: true)
        for scalar in ["\u{1B}", "\u{7}", "\r", "\u{202E}", "\u{9B}", "\u{2028}"] as [Unicode.Scalar] {
            #expect(!text.unicodeScalars.contains(scalar))
        }
    }

    @Test("marks what is missing and what is open")
    func marks() {
        func marks(_ change: (inout ClosedCycle) -> Void) -> String {
            JudgementSamples.cycle(outcome: .incomplete) {
                $0.stages = CycleStages()
                change(&$0)
            }.closed.stageMarks.map(\.rawValue).joined()
        }
        let time = JudgementSamples.due
        #expect(marks { _ in } == "·····")
        #expect(marks { $0.stages.scheduled = time } == "✓····")
        #expect(marks { $0.stages.executed = time } == "✗✓···")
        #expect(marks { $0.stages.failure = time } == "·✗✗··")
        #expect(marks { $0.stages.used = time } == "··✗✓·")
        #expect(marks { $0.stages.delivered = time } == "···✗✓")
        #expect(
            marks {
                $0.stages.scheduled = time
                $0.outcome = .missed
            } == "✓✗···"
        )
    }

    @Test("has colours on a terminal, and never when they are refused")
    func colours() {
        let judgement = JudgementSamples.judgement([JudgementSamples.cycle()])
        #expect(judgement.text(style: TextStyle(isColoured: true)).contains("\u{1B}[32m✓\u{1B}[0m"))
        #expect(TextStyle(isTerminal: true, environment: ["TERM": "xterm"]).isColoured)
        #expect(TextStyle(isTerminal: true, environment: ["NO_COLOR": ""]).isColoured)
        #expect(!TextStyle(isTerminal: true, environment: ["NO_COLOR": "1"]).isColoured)
        #expect(!TextStyle(isTerminal: true, environment: ["TERM": "dumb"]).isColoured)
        #expect(!TextStyle(isTerminal: false, environment: [:]).isColoured)
    }

    @Test("tells how far a run has come")
    func progress() {
        var progress = InputProgress()
        progress.lines = 1_234_567
        #expect(progress.line(elapsedSeconds: 2) == "1,234,567 lines, 617,283 lines/s")
        progress.totalBytes = 400
        progress.bytes = 100
        #expect(progress.line(elapsedSeconds: 0) == "25 %, 1,234,567 lines")
        progress.bytes = 1_000
        #expect(progress.line(elapsedSeconds: 0).hasPrefix("100 %"))
    }
}
