// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Export
internal import Glibc
internal import Journald
internal import TelemetryEvents
internal import TextOutput

/// The problems of a configuration, found without starting the service.
package struct ConfigurationCheck: Sendable {
    /// The file that was read.
    package let file: String
    /// Problems that keep the service from starting.
    package let problems: [ConfigurationProblem]
    /// Likely mistakes.
    package let warnings: [ConfigurationProblem]
    private let settings: EffectiveSettings

    /// Reads and checks the configuration.
    package init(_ reader: SettingsReader) {
        file = reader.file ?? ""
        let reading = reader.reading()
        let security = SecurityCheck(reading)
        let paths = PathCheck(reading)
        problems = (reading.problems + reading.conflicts + security.problems + paths.problems).inOrder(of: file)
        warnings = (reader.variableWarnings + security.warnings + paths.warnings).inOrder(of: file)
        settings = EffectiveSettings(reading)
    }

    /// The settings that are in force, as a configuration file.
    package var effective: String { settings.yaml }

    /// A line for each problem, and the verdict.
    package func text(isBrief: Bool) -> [UInt8] {
        var lines = problems.map { "error: \($0)" }
        if !isBrief {
            lines += warnings.map { "warning: \($0)" }
            let count = problems.count
            let name = file.isEmpty ? "no file" : file
            lines.append(count == 0 ? "\(name): ok" : "\(name): \(count.counted("problem"))")
        }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// `{"file":...,"verdict":"ok|invalid","problems":[{"file":...,"line":...,"setting":...,"message":...}],"warnings":[]}`
    ///
    /// - Parameter isEffective: whether `settings` has what is in force.
    package func json(isEffective: Bool) -> [UInt8] {
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
            if isEffective {
                text.name("settings")
                settings.write(to: &text)
            }
        }
        return text.asLine()
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
        let listeners = reading.configuration.listeners
        for (index, listener) in listeners.enumerated() {
            if case .unix(let path, _, let group) = listener.endpoint { checkSocket(path, group, index) }
            if let refusal = ListeningSockets.refusal(listener) {
                problems.append(ConfigurationProblem(reading.origin(of: "listen", index), "\(refusal)"))
            } else if let other = listeners[..<index].first(where: listener.overlaps) {
                let message = "\(listener.name) and \(other.name) have a place in common; list one of them"
                problems.append(ConfigurationProblem(reading.origin(of: "listen", index), message))
            }
        }
        let followed = reading.configuration.followedFiles.map(\.path)
        for (index, path) in followed.enumerated() {
            checkFollowed(path, index)
            if FollowedFiles.twice(Array(followed[..<index])) == nil,
                let problem = FollowedFiles.twice(Array(followed[...index]))
            {
                problems.append(ConfigurationProblem(reading.origin(of: "follow", index), "\(problem)"))
            }
        }
        checkFollowedJournal()
        for (index, setting) in reading.configuration.exports.enumerated() { checkExport(setting, index) }
    }

    /// A file of the credentials directory is there once systemd starts the service.
    private mutating func checkExport(_ setting: ExportSetting, _ index: Int) {
        let directory = reading.configuration.credentialsDirectory
        // All streams of a destination have the same files.
        guard let stream = setting.streams.first, let message = ExportFiles.problem(of: stream, directory) else {
            return
        }
        let problem = ConfigurationProblem(reading.origin(of: "export", index), message)
        if directory == nil, stream.headersFile?.contains("/") == false {
            warnings.append(problem)
        } else {
            problems.append(problem)
        }
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
            let directory = Self.directory(of: path)
            let problem = ConfigurationProblem(
                origin,
                "\(directory) does not exist; it must be created before the service starts"
            )
            // What is below /run is created anew by units (RuntimeDirectory=, tmpfiles.d).
            if directory.hasPrefix("/run/") || directory.hasPrefix("/var/run/") {
                warnings.append(problem)
            } else {
                problems.append(problem)
            }
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
        switch FileAccess.look(path) {
        case .file:
            if unsafe access(path, R_OK) != 0 {
                warnings.append(
                    ConfigurationProblem(origin, "this user cannot read \(path); the service's user must be able to")
                )
            }
        case .absent:
            let isInDirectory = Self.kind(of: Self.directory(of: path)) == S_IFDIR
            let missing = isInDirectory ? path : Self.directory(of: path)
            warnings.append(ConfigurationProblem(origin, "\(missing) is not there yet; the service waits for it"))
        case .refused(let problem) where problem.isPermanent:
            problems.append(ConfigurationProblem(origin, "\(problem)"))
        case .refused(let problem): warnings.append(ConfigurationProblem(origin, "\(problem)"))
        }
    }

    private mutating func checkFollowedJournal() {
        guard !reading.configuration.followedJournal.isEmpty else { return }
        let origin = reading.origin(of: "follow-journal")
        do throws(JournalMatchError) {
            _ = try JournalMatch.condition(reading.configuration.followedJournal)
        } catch {
            return problems.append(ConfigurationProblem(origin, "cannot follow the journal: \(error)"))
        }
        if let refusal = FollowedJournal.refusal(.machine) {
            warnings.append(
                ConfigurationProblem(
                    origin,
                    "this user cannot follow the journal: \(refusal); the service's must be able to"
                )
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
