// SPDX-License-Identifier: Apache-2.0

/// What happens to logs on their way: each makes a file of the wrapped lines.
enum WrittenLog: CaseIterable {
    case plain, crlf, byteOrderMark, withoutLastLineFeed, coloured, amongOthers, cutShort

    private static let others: [[UInt8]] = [
        Array("random words".utf8), [0xFF, 0xFE, 0x00, 0x80, 0x20, 0xC3], [UInt8](repeating: 0x78, count: 70_000), [],
        Array("2025-11-15 05:41:00.000000+0000 Other[9:9] CoreData: hello id=evil success=true".utf8),
        Array("11-15 05:41:00.000   999   999 E AndroidRuntime: FATAL EXCEPTION".utf8), Array(#"{"foo":1}"#.utf8),
        Array("Nov 15 05:41:00 phone kernel[0] <Notice>: something".utf8),
        Array(#"2025-11-15T05:50:00Z a tool printed "[DNP-FETCH] Fetch success (status=200)""#.utf8),
    ]

    func bytes(of lines: [String]) -> [UInt8] {
        let text = lines.joined(separator: "\n")
        switch self {
        case .plain: return Array((text + "\n").utf8)
        case .crlf: return Array((text.replacing("\n", with: "\r\n") + "\r\n").utf8)
        case .byteOrderMark: return [0xEF, 0xBB, 0xBF] + Array((text + "\n").utf8)
        case .withoutLastLineFeed: return Array(text.utf8)
        case .coloured:
            let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
            return Array(rows.map { $0.isEmpty ? "" : "\u{1B}[32m\($0)\u{1B}[0m" }.joined(separator: "\n").utf8)
        case .amongOthers:
            return Array(
                lines.enumerated().map { index, line in
                    Array(line.utf8) + [0x0A] + Self.others[index % Self.others.count]
                }
                .joined(separator: [0x0A])
            )
        case .cutShort: return Array((text + "\n2025-11-15T05:53:0").utf8)
        }
    }
}
