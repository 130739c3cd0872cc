// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The buffers that wait for a scrape.
struct ScrapeBuffers: ~Copyable {
    /// Buffers that are kept; what more scrapes at once need is given back to the system.
    private static var kept: Int { 4 }

    private let waiting = Mutex<[ScrapeBuffer]>([])

    func borrow<Result>(_ body: (inout ScrapeBuffer) -> Result) -> Result {
        var buffer = waiting.withLock { $0.popLast() } ?? ScrapeBuffer()
        let result = body(&buffer)
        waiting.withLock { waiting in
            if waiting.count < Self.kept { waiting.append(buffer) }
        }
        return result
    }
}
