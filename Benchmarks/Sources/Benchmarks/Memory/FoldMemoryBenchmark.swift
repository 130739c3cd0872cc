// SPDX-License-Identifier: Apache-2.0

internal import CAllocations
internal import Foundation
internal import Glibc
internal import LedgerState

/// What the fold keeps in memory of an open cycle and of a remembered event.
enum FoldMemoryBenchmark: Benchmark {
    static let name = "fold-memory"

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        try FoldMemory.Content.allCases.flatMap { content in
            let memory = try FoldMemory(measuredByChildFor: content, in: room)
            let cycles = Double(memory.cycles)
            return [
                Row(
                    "allocated per open cycle of \(content.name), \(memory.cycles) open",
                    "bytes",
                    [Double(memory.cycleBytes) / cycles],
                    target: .atMost(96)
                ),
                Row(
                    "allocated per remembered event, \(memory.identities) of them",
                    "bytes",
                    [Double(memory.identityBytes) / Double(memory.identities)],
                    target: .atMost(10)
                ),
                Row(
                    "resident for both, per open cycle of \(content.name)",
                    "bytes",
                    [Double(memory.residentBytes) / cycles],
                    note: "\(Figure.text(Double(memory.cycleBytes + memory.identityBytes) / cycles)) are allocated"
                ),
            ]
        }
    }
}

/// The memory of a fold, measured in a process that does nothing else: what it has allocated, and what became resident.
struct FoldMemory {
    /// What is folded, 1,000,000 events of it.
    enum Content: String, CaseIterable {
        case oneEvent = "one-event"
        case wholeCycles = "whole-cycles"

        var name: String {
            switch self {
            case .oneEvent: "1 event"
            case .wholeCycles: "5 events, every other tried again"
            }
        }
    }

    private(set) var cycles = 0
    private(set) var identities = 0
    /// What a fold allocates that remembers no identities.
    private(set) var cycleBytes = 0
    /// What one that remembers them allocates beyond that.
    private(set) var identityBytes = 0
    private(set) var residentBytes = 0

    /// Measures in this process, whose first fold this must be: memory that is freed stays resident.
    init(of content: Content, in room: BenchmarkRoom) throws {
        let key = try InstallationKey(directory: try room.directory("key"))
        let kind: EventLines.Kind = content == .oneEvent ? .onlyScheduled : .wholeCycles
        let requests = EventLines(count: 1_000_000, kind: kind).requests(eventsPerRequest: 1_000)
        let resident = try ProcessMemory(of: getpid()).anonymous
        let (both, pipeline) = try Self.allocated(by: FoldPipeline(key: key), requests)
        residentBytes = Int(try (ProcessMemory(of: getpid()).anonymous - resident) * 1e6)
        cycles = pipeline.openCycles
        identities = pipeline.identities
        cycleBytes = try Self.allocated(by: FoldPipeline(key: key, deduplicates: false), requests).bytes
        identityBytes = both - cycleBytes
    }

    private static func allocated(
        by pipeline: consuming FoldPipeline,
        _ requests: [PreparedRequest]
    ) throws -> (bytes: Int, FoldPipeline) {
        let before = allocations_held()
        for request in requests { try pipeline.take(request) }
        // After a checkpoint, what is new is not kept for one.
        pipeline.checkpoint()
        return (Int(allocations_held() - before), pipeline)
    }

    /// Starts a process for it.
    init(measuredByChildFor content: Content, in room: BenchmarkRoom) throws {
        let directory = try room.directory("fold-memory")
        defer { TemporaryDirectory.remove(directory) }
        let command = ["/proc/self/exe", "--work", directory, "--fold-memory", content.rawValue]
        let status = try ChildProcess(command, output: "\(directory)/output", errors: "\(directory)/errors").wait()
        let output = try String(contentsOfFile: "\(directory)/output", encoding: .utf8)
        let figures = output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard status == 0, figures.count == 5 else {
            let told = (try? String(contentsOfFile: "\(directory)/errors", encoding: .utf8)) ?? ""
            throw BenchmarkFailure("the process that folds \(content.name) ended with \(status): \(told.suffix(500))")
        }
        (cycles, identities, cycleBytes) = (figures[0], figures[1], figures[2])
        (identityBytes, residentBytes) = (figures[3], figures[4])
    }

    /// What the other process prints.
    var line: String { "\(cycles) \(identities) \(cycleBytes) \(identityBytes) \(residentBytes)" }
}
