// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The figures that `peers/client_golang` prints.
struct ClientGolang: Sendable {
    private static let name = "client_golang"

    private let figures: [String: [Double]]

    /// Runs it to its end; without an executable there are no figures.
    init(in room: BenchmarkRoom) throws {
        guard !room.options.clientGolang.isEmpty else {
            figures = [:]
            return
        }
        let directory = try room.directory("client-golang")
        defer { TemporaryDirectory.remove(directory) }
        let output = "\(directory)/output"
        let status = try ChildProcess([room.options.clientGolang], output: output).wait()
        guard status == 0 else { throw BenchmarkFailure("\(room.options.clientGolang) ended with \(status)") }
        var figures: [String: [Double]] = [:]
        for line in try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n") {
            let cells = line.split(separator: "\t")
            figures[String(cells[0])] = cells.dropFirst().compactMap { Double($0) }
        }
        self.figures = figures
    }

    /// The runs of one figure as a row's peer.
    func peer(_ figure: String) -> Row.Peer? {
        figures[figure].map { Row.Peer(Self.name, $0) }
    }
}
