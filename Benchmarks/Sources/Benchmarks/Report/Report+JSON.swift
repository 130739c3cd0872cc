// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension Report {
    private struct Document: Encodable {
        var machine: Machine
        var othersShareOfCPU: Double
        var figures: [Figure]

        struct Figure: Encodable {
            var work: String
            var unit: String
            var median: Double?
            var runs: [Double]
            var target: Double?
            var targetKind: String?
            var peer: String?
            var peerRuns: [Double]?
            var peerRatio: Double?
            var verdict: String
            var note: String?
        }
    }

    /// The same as the table, for programs.
    func json() throws -> Data {
        let figures = rows.map { row in
            Document.Figure(
                work: row.work,
                unit: row.unit,
                median: row.runs.isEmpty ? nil : row.median,
                runs: row.runs,
                target: row.target?.bound,
                targetKind: row.target.map { "\($0.sign) \(row.targetIsRatio ? "peer ratio" : "median")" },
                peer: row.peer?.name,
                peerRuns: row.peer?.runs,
                peerRatio: row.peerRatio,
                verdict: row.verdict.rawValue,
                note: row.note
            )
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Document(machine: machine, othersShareOfCPU: othersShare, figures: figures))
    }
}
