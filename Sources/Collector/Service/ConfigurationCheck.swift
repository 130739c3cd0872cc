// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// What is wrong with a configuration, found without starting anything.
package struct ConfigurationCheck: Sendable {
    /// The file that was read.
    package let file: String
    /// What keeps the service from starting with it.
    package let problems: [ConfigurationProblem]
    /// What looks like a mistake and is none for certain.
    package let warnings: [ConfigurationProblem]

    /// Reads it all.
    package init(_ reader: SettingsReader) {
        file = reader.file ?? ""
        let reading = reader.reading()
        let security = SecurityCheck(reading)
        let places = PlaceCheck(reading)
        problems = reading.problems + reading.conflicts + security.problems + places.problems
        warnings = reader.unknownVariables + security.warnings + places.warnings
    }

    /// A line for each problem, and the verdict.
    package func text(isBrief: Bool) -> [UInt8] {
        var lines = problems.map { "error: \($0)" }
        if !isBrief {
            lines += warnings.map { "warning: \($0)" }
            let count = problems.count
            lines.append(count == 0 ? "\(file): ok" : "\(file): \(count) \(count == 1 ? "problem" : "problems")")
        }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// `{"file":...,"verdict":"ok|invalid","problems":[{"file":...,"line":...,"setting":...,"message":...}],"warnings":[]}`
    package func json() -> [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.name("file")
            text.value(file)
            text.name("verdict")
            text.value(problems.isEmpty ? "ok" : "invalid")
            for (name, list) in [("problems", problems), ("warnings", warnings)] {
                text.name(name)
                text.array { text in for problem in list { Self.write(problem, to: &text) } }
            }
        }
        return text.bytes + [UInt8(ascii: "\n")]
    }

    private static func write(_ problem: ConfigurationProblem, to text: inout JSONWriter) {
        text.object { text in
            switch problem.origin {
            case .option(let name):
                text.name("option")
                text.value(name)
            case .environment(let name):
                text.name("variable")
                text.value(name)
            case .file(let path, let line):
                text.name("file")
                text.value(path)
                text.name("line")
                text.value(line.map { Int64($0) })
            }
            text.name("message")
            text.value(problem.message)
        }
    }
}
