// SPDX-License-Identifier: Apache-2.0

internal import CMalloc
internal import LedgerState

/// What the fold keeps in memory of an open cycle and of a remembered event.
enum FoldMemoryBenchmark: Benchmark {
    static let name = "fold-memory"

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let key = try InstallationKey(directory: try room.directory("key"))
        let open = EventLines(count: 1_000_000, kind: .onlyScheduled).requests(eventsPerRequest: 1_000)
        return try [("1 event", open), ("5 events, every other tried again", room.cycles)].flatMap { (name, requests) in
            let before = heapBytes()
            var pipeline = FoldPipeline(key: key)
            for request in requests { try pipeline.take(request) }
            pipeline.checkpoint()
            let heap = heapBytes() - before
            let perIdentity = Double(pipeline.identityBytes) / Double(pipeline.identities)
            let perCycle = Double(heap - pipeline.identityBytes) / Double(pipeline.openCycles)
            return [
                Row(
                    "heap per open cycle of \(name), \(pipeline.openCycles) open",
                    "bytes",
                    [perCycle],
                    target: .atMost(96)
                ),
                Row("heap per remembered event, 1,000,000 of them", "bytes", [perIdentity], target: .atMost(12)),
            ]
        }
    }

    /// Bytes that are allocated now (mallinfo2(3)).
    private static func heapBytes() -> Int {
        let information = mallinfo2()
        return Int(information.uordblks) + Int(information.hblkhd)
    }
}
