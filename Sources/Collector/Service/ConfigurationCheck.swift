// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc
internal import TelemetryEvents

/// The problems of a configuration, found without starting the service.
package struct ConfigurationCheck: Sendable {
    /// The file that was read.
    package let file: String
    /// Problems that keep the service from starting.
    package let problems: [ConfigurationProblem]
    /// Likely mistakes.
    package let warnings: [ConfigurationProblem]

    /// Reads and checks the configuration.
    package init(_ reader: SettingsReader) {
        file = reader.file ?? ""
        let reading = reader.reading()
        let security = SecurityCheck(reading)
        let paths = PathCheck(reading)
        problems = reading.problems + reading.conflicts + security.problems + paths.problems
        warnings = reader.unknownVariables + security.warnings + paths.warnings
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

/// Checks the paths of a configuration against this machine, without changing anything.
///
/// What another user or a unit may be allowed to do or create at the start is a warning only.
private struct PathCheck {
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var warnings: [ConfigurationProblem] = []
    private let reading: SettingsReading

    init(_ reading: SettingsReading) {
        self.reading = reading
        checkStateDirectory(reading.configuration.stateDirectory)
        for (index, listener) in reading.configuration.listeners.enumerated() {
            if case .unix(let path, _, let group) = listener.endpoint { checkSocket(path, group, index) }
        }
        for (index, file) in reading.configuration.followedFiles.enumerated() { checkFollowed(file.path, index) }
    }

    private mutating func checkStateDirectory(_ path: String) {
        guard !path.isEmpty else { return }
        let origin = reading.origin(of: "state-dir")
        var nearest = path
        while Self.kind(of: nearest) == nil, nearest.count > 1 { nearest = Self.directory(of: nearest) }
        if Self.kind(of: nearest) != S_IFDIR {
            problems.append(ConfigurationProblem(origin, "expected a directory at \(nearest), found something else"))
        } else if unsafe access(nearest, W_OK | X_OK) != 0 {
            warnings.append(
                ConfigurationProblem(origin, "this user cannot write to \(nearest); the service's user must be able to")
            )
        }
    }

    private mutating func checkSocket(_ path: String, _ group: String?, _ index: Int) {
        let origin = reading.origin(of: "listen", index)
        switch Self.kind(of: Self.directory(of: path)) {
        case S_IFDIR: break
        case nil:
            warnings.append(
                ConfigurationProblem(
                    origin,
                    "\(Self.directory(of: path)) does not exist; it must be created before the service starts"
                )
            )
        default:
            problems.append(
                ConfigurationProblem(origin, "expected a directory at \(Self.directory(of: path)), found a file")
            )
        }
        if let kind = Self.kind(of: path), kind != S_IFSOCK {
            problems.append(
                ConfigurationProblem(origin, "expected a socket or nothing at \(path), found something else")
            )
        }
        if let group, gid_t(group) == nil, unsafe getgrnam(group) == nil {
            problems.append(ConfigurationProblem(origin, "there is no group \"\(group.prefix(80))\""))
        }
    }

    private mutating func checkFollowed(_ path: String, _ index: Int) {
        let origin = reading.origin(of: "follow", index)
        switch Self.kind(of: path) {
        case S_IFREG:
            if unsafe access(path, R_OK) != 0 {
                warnings.append(
                    ConfigurationProblem(origin, "this user cannot read \(path); the service's user must be able to")
                )
            }
        case nil:
            if Self.kind(of: Self.directory(of: path)) != S_IFDIR {
                warnings.append(ConfigurationProblem(origin, "\(Self.directory(of: path)) is not a directory yet"))
            }
        default:
            warnings.append(
                ConfigurationProblem(origin, "\(path) is no regular file, and is followed only once it is one")
            )
        }
    }

    /// The file type at a path, following links; nil where nothing exists.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
