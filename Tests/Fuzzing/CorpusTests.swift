// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Each corpus in a process of its own, since what is found ends it.
@Suite("The corpora of the fuzz targets", .timeLimit(.minutes(5)))
struct CorpusTests {
    @Test("every input of the corpus of JSON events keeps what is promised of all")
    func corpusOfEventDecoder() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(EventDecoderTarget.self) }
    }

    @Test("every input of the corpus of compact records keeps what is promised of all")
    func corpusOfEventRecords() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(EventRecordsTarget.self) }
    }

    @Test("every input of the corpus of gzip bodies keeps what is promised of all")
    func corpusOfGzipBodies() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(GzipBodiesTarget.self) }
    }

    @Test("every input of the corpus of logs keeps what is promised of all")
    func corpusOfLogLines() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(LogLinesTarget.self) }
    }

    @Test("every input of the corpus of line sockets keeps what is promised of all")
    func corpusOfLineSocket() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(LineSocketTarget.self) }
    }

    @Test("every input of the corpus of checkpoint pages keeps what is promised of all")
    func corpusOfCheckpointPages() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(CheckpointPagesTarget.self) }
    }

    @Test("every input of the corpus of configuration files keeps what is promised of all")
    func corpusOfConfiguration() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(ConfigurationTarget.self) }
    }

    @Test("every input of the corpus of ledger files keeps what is promised of all")
    func corpusOfLedgerFiles() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(LedgerFilesTarget.self) }
    }

    @Test("every input of the corpus of HTTP requests keeps what is promised of all")
    func corpusOfHTTPRequests() async {
        await #expect(processExitsWith: .success) { await CorpusReplay.run(HTTPRequestsTarget.self) }
    }
}

/// Runs a target over its corpus without libFuzzer.
private enum CorpusReplay {
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
                    FileHandle.standardError.write(Data("\(name): \(file.lastPathComponent)\n".utf8))
                    target.check(Array(input))
                }
                continuation.resume()
            }
        }
        Scratch.remove()
    }
}
