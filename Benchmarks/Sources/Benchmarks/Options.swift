// SPDX-License-Identifier: Apache-2.0

/// The command line.
struct Options {
    /// The service's executable.
    var service = ""
    /// The compiled peers/journal_sendv.c; empty when there is none.
    var journalPeer = ""
    /// The compiled peers/meter.c; empty when there is none.
    var meter = ""
    /// The compiled peers/client_golang; empty when there is none.
    var clientGolang = ""
    /// The executable of jq; empty when there is none.
    var jq = ""
    /// The executable of mtail, and what it is to count.
    var mtail = ""
    var mtailProgram = ""
    /// A directory on a disk, for ledgers.
    var workDirectory = "/tmp"
    /// Where the report goes as JSON.
    var json: String?
    /// The benchmarks to run; all when empty.
    var only: Set<String> = []
    /// What this process measures of itself and prints, as a child of the benchmarks.
    var probe: FoldMemory.Content?
    /// Why no journald of our own can be started here.
    var withoutJournal: String?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw BenchmarkFailure("expected a value behind \(option); see Benchmarks/README.md")
            }
            switch option {
            case "--service": service = value
            case "--journal-peer": journalPeer = value
            case "--meter": meter = value
            case "--client-golang": clientGolang = value
            case "--jq": jq = value
            case "--mtail": mtail = value
            case "--mtail-program": mtailProgram = value
            case "--work": workDirectory = value
            case "--json": json = value
            case "--only": only = Set(value.split(separator: ",").map { String($0) })
            case "--fold-memory":
                guard let content = FoldMemory.Content(rawValue: value) else {
                    throw BenchmarkFailure("no content of the fold is called \(value)")
                }
                probe = content
            case "--without-journal": withoutJournal = value
            default: throw BenchmarkFailure("no option is called \(option); see Benchmarks/README.md")
            }
        }
    }
}
