// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

@testable import LogInput
@testable import LogValidation

/// Judges lines as `validate` does.
enum JudgedLog {
    static func judge(
        _ lines: [String],
        timezone: String = "UTC",
        named name: String = "device.log",
        _ change: (inout JudgementOptions) -> Void = { _ in }
    ) throws -> Judgement {
        let directory = try TemporaryDirectory()
        let path = directory.file(name)
        try Files.write(Array(lines.map { $0 + "\n" }.joined().utf8), to: path)
        var options = JudgementOptions(try LineFormat(timezone: timezone))
        change(&options)
        return try JudgementRun(options).judge([path])
    }

    /// The lines of a story as a stamped log.
    static func lines(_ story: GuideStory) -> [String] {
        story.lines.map { "\($0.time) [DNP-\($0.component.uppercased())] \($0.message)" }
    }

    static func judge(_ story: GuideStory) throws -> Judgement { try judge(lines(story)) }

    static func object(_ judgement: Judgement, _ checks: [CheckResult] = []) throws -> [String: Any] {
        let json = judgement.json(hints: true, requirements: Requirement.allCases, checks: checks)
        return try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] ?? [:]
    }
}
