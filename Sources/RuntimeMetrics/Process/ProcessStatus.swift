// SPDX-License-Identifier: Apache-2.0

/// What `/proc/self/stat` tells (proc(5)).
struct ProcessStatus: Equatable {
    var threads: UInt64
    /// Clock ticks from the machine's start to the process's.
    var startTicks: UInt64
    var virtualBytes: UInt64
    var residentPages: UInt64

    /// Nil when the text isn't of that form.
    init?(_ text: Span<UInt8>) {
        var scanner = NumberScanner()
        // The second field is the name in parentheses, in which anything may stand.
        guard scanner.goBehindLast(UInt8(ascii: ")"), text) else { return nil }
        scanner.skip(17, text)
        guard let threads = scanner.number(text) else { return nil }
        scanner.skip(1, text)
        guard let start = scanner.number(text), let bytes = scanner.number(text), let pages = scanner.number(text)
        else {
            return nil
        }
        self.threads = threads
        startTicks = start
        virtualBytes = bytes
        residentPages = pages
    }
}
