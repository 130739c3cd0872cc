// SPDX-License-Identifier: Apache-2.0

import LogInput
import Synchronization
import TextOutput

/// A line on a terminal's standard error that tells how far a long run has come, from its second second on.
final class ProgressLine: Sendable {
    private let isShown: Bool
    private let start = ContinuousClock.now
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    init(isShown: Bool) {
        self.isShown = isShown
    }

    func show(_ progress: InputProgress) {
        show { progress.line(elapsedSeconds: $0) }
    }

    /// Shows a line that is made of the seconds that have passed.
    func show(_ line: (Double) -> String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        let elapsed = now - start
        guard elapsed > .seconds(1) else { return }
        let isDue = last.withLock { last in
            if let last, now - last < .milliseconds(200) { return false }
            last = now
            return true
        }
        if isDue { write("\r\u{1B}[K" + line(elapsed / .seconds(1))) }
    }

    /// Takes the line away.
    func clear() {
        if isShown, last.withLock({ $0 != nil }) { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        _ = FileOutput.write(Array(text.utf8), to: Terminal.error)
    }
}
