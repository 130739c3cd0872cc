// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension Report {
    /// The rows under their headings, in columns.
    var table: String {
        let heading = ["work", "measured", "spread", "target", "ratio or peer", "verdict"]
        let lines = [heading] + rows.map { columns($0) }
        let widths = heading.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let rule = String(repeating: "-", count: widths.reduce(0, +) + 2 * (widths.count - 1))
        let text = lines.map { cells in
            zip(cells, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
                .joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }
        return ([machine.line, disturbance, rule, text[0], rule] + text[1...] + [rule, summary]).joined(separator: "\n")
    }

    private func columns(_ row: Row) -> [String] {
        [
            row.work,
            row.runs.isEmpty ? "-" : "\(Figure.text(row.median)) \(row.unit)",
            row.runs.count > 1 ? "+-\(Int((row.runs.spread * 100).rounded())) % of \(row.runs.count)" : "",
            target(row),
            comparison(row),
            row.verdict.rawValue,
        ]
    }

    private func target(_ row: Row) -> String {
        guard let target = row.target else { return "" }
        return "\(target.sign) \(Figure.text(target.bound)) \(row.targetIsRatio ? "x peer" : row.unit)"
    }

    private func comparison(_ row: Row) -> String {
        var parts: [String] = []
        if let peer = row.peer, let ratio = row.peerRatio {
            parts.append("\(Figure.text(ratio)) x \(peer.name) (\(Figure.text(peer.runs.median)))")
        } else if let ratio = row.targetRatio {
            parts.append("\(Figure.text(ratio)) of target")
        }
        if let note = row.note { parts.append(note) }
        return parts.joined(separator: "; ")
    }

    private var disturbance: String {
        let share = Int((othersShare * 100).rounded())
        return "Other programs had \(share) % of the CPU time meanwhile"
            + (share > 5 ? "; the figures are worse for it." : ".")
    }

    private var summary: String {
        let judged = rows.filter { $0.target != nil }
        let reached = judged.count { $0.verdict == .reached }
        return """
            \(reached) of \(judged.count) targets reached. Figures are medians; a spread is half the distance of the extremes.
            """
    }
}
