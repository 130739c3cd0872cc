// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Each corpus in a process of its own, since what is found ends it.
@Suite("The corpora of the fuzz targets", .timeLimit(.minutes(5)))
struct CorpusTests {
    @Test("every input of the corpus of JSON events keeps what is promised of all")
    func corpusOfEventDecoder() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(EventDecoderTarget.self) }
        if result == nil { CorpusReplay.tellLast(EventDecoderTarget.self) }
    }

    @Test("every input of the corpus of compact records keeps what is promised of all")
    func corpusOfEventRecords() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(EventRecordsTarget.self) }
        if result == nil { CorpusReplay.tellLast(EventRecordsTarget.self) }
    }

    @Test("every input of the corpus of gzip bodies keeps what is promised of all")
    func corpusOfGzipBodies() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(GzipBodiesTarget.self) }
        if result == nil { CorpusReplay.tellLast(GzipBodiesTarget.self) }
    }

    @Test("every input of the corpus of logs keeps what is promised of all")
    func corpusOfLogLines() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(LogLinesTarget.self) }
        if result == nil { CorpusReplay.tellLast(LogLinesTarget.self) }
    }

    @Test("every input of the corpus of line sockets keeps what is promised of all")
    func corpusOfLineSocket() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(LineSocketTarget.self) }
        if result == nil { CorpusReplay.tellLast(LineSocketTarget.self) }
    }

    @Test("every input of the corpus of checkpoint pages keeps what is promised of all")
    func corpusOfCheckpointPages() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(CheckpointPagesTarget.self) }
        if result == nil { CorpusReplay.tellLast(CheckpointPagesTarget.self) }
    }

    @Test("every input of the corpus of configuration files keeps what is promised of all")
    func corpusOfConfiguration() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(ConfigurationTarget.self) }
        if result == nil { CorpusReplay.tellLast(ConfigurationTarget.self) }
    }

    @Test("every input of the corpus of ledger files keeps what is promised of all")
    func corpusOfLedgerFiles() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(LedgerFilesTarget.self) }
        if result == nil { CorpusReplay.tellLast(LedgerFilesTarget.self) }
    }

    @Test("every input of the corpus of HTTP requests keeps what is promised of all")
    func corpusOfHTTPRequests() async {
        let result = await #expect(processExitsWith: .success) { await CorpusReplay.run(HTTPRequestsTarget.self) }
        if result == nil { CorpusReplay.tellLast(HTTPRequestsTarget.self) }
    }
}

/// Runs a target over its corpus without libFuzzer.
private enum CorpusReplay {
    /// Keeps the name of the input that is being checked: the process that checks it may end.
    private static func progress(_ target: (some FuzzTarget).Type) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "dnp-corpus-\(target)")
    }

    /// Records the input at which a process ended.
    static func tellLast(_ target: (some FuzzTarget).Type) {
        let last = (try? String(contentsOf: progress(target), encoding: .utf8)) ?? "none"
        Issue.record("the last input of \(target) was \(last)")
    }

    static func run(_ target: (some FuzzTarget).Type) async {
        let name = "\(target)".replacing("Target", with: "")
        let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(name)")
        guard let files = try? FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil),
            !files.isEmpty
        else { fatalError("no corpus in \(corpus.path)") }
        // Targets block.
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for file in files.sorted(by: { $0.path < $1.path }) {
                    guard let input = FileManager.default.contents(atPath: file.path) else {
                        fatalError("\(file.path) cannot be read")
                    }
                    try? Data(file.lastPathComponent.utf8).write(to: progress(target))
                    target.check(Array(input))
                }
                continuation.resume()
            }
        }
        Scratch.remove()
    }
}
