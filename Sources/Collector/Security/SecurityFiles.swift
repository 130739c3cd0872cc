// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of CDispatch, CoreFoundation and Glibc, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc
internal import TelemetryEvents

/// The web configuration and the tokens, read at the start and again when they change.
///
/// A file that is invalid later leaves the rules as they are, so that a mistake never weakens them.
struct SecurityFiles {
    /// The result of reading a file again.
    struct Reading {
        enum Subject: String, CaseIterable {
            case webConfiguration = "web_config"
            case tokens
        }

        let subject: Subject
        let problem: ConfigurationProblem?
    }

    private let webPath: String?
    let credentials: CredentialsDirectory?
    private(set) var rules = SecurityRules()
    private var web: DebouncedChange<[FileStamp]>
    private var tokens: DebouncedChange<[String: FileStamp]>
    /// The files named by the web configuration.
    private var named: [String] = []

    /// Reads everything.
    init(webConfiguration: String?, credentials: CredentialsDirectory?) throws(ConfigurationProblem) {
        webPath = webConfiguration
        self.credentials = credentials
        web = DebouncedChange(used: [])
        tokens = DebouncedChange(used: [:])
        if let path = webPath { try readWeb(path, isFirst: true) }
        if let credentials {
            try readTokens(credentials.path)
            guard rules.needsToken || rules.needsReadToken || !credentials.mustHoldTokens else {
                throw ConfigurationProblem(
                    .file(credentials.path, line: nil),
                    "expected a token in a file \(BearerToken.Role.ingest.prefix)NAME, found none; put one there, or leave "
                        + "credentials-dir out so that events need none"
                )
            }
        }
    }

    /// Reads what has changed since the last call but one and is stable since the last. To be called once a second.
    mutating func look() -> [Reading] {
        var readings: [Reading] = []
        if let path = webPath, web.look(webStamps(path)) { readings.append(rereadWeb(path)) }
        if let credentials, tokens.look(TokenDirectory.stamp(credentials.path)) {
            readings.append(rereadTokens(credentials.path))
        }
        return readings
    }

    /// Reads everything again, changed or not, and applies all of it or nothing.
    ///
    /// After a failure, the valid files are left for the next ``look()``.
    mutating func reread() -> [Reading] {
        var next = self
        let readings = [webPath.map { next.rereadWeb($0) }, credentials.map { next.rereadTokens($0.path) }]
            .compactMap { $0 }
        let failures = readings.filter { $0.problem != nil }
        guard !failures.isEmpty else {
            self = next
            return readings
        }
        for failure in failures {
            switch failure.subject {
            case .webConfiguration: (web, named) = (next.web, next.named)
            case .tokens: tokens = next.tokens
            }
        }
        return failures
    }

    private mutating func rereadWeb(_ path: String) -> Reading {
        do throws(ConfigurationProblem) {
            try readWeb(path, isFirst: false)
            return Reading(subject: .webConfiguration, problem: nil)
        } catch {
            return Reading(subject: .webConfiguration, problem: error)
        }
    }

    private mutating func rereadTokens(_ directory: String) -> Reading {
        do throws(ConfigurationProblem) {
            try readTokens(directory)
            return Reading(subject: .tokens, problem: nil)
        } catch {
            return Reading(subject: .tokens, problem: error)
        }
    }

    /// Takes the stamps before reading the files, so that the next ``look()`` sees a change in between.
    private mutating func readWeb(_ path: String, isFirst: Bool) throws(ConfigurationProblem) {
        let stamp = FileStamp(path)
        web.use([stamp] + named.map { FileStamp($0) })
        let document = try YAMLFile.read(path)
        guard isFirst || document.value != .empty else {
            throw ConfigurationProblem(
                .file(path, line: nil),
                "expected a configuration, found an empty file; write {} where none is wanted"
            )
        }
        let configuration = try WebConfiguration(document, path: path)
        if !isFirst, let downgrade = rules.web.downgrade(to: configuration) {
            throw ConfigurationProblem(
                .file(path, line: nil),
                downgrade
                    + "; any restart applies it, that of an upgrade too: restore the file first if that is "
                    + "not intended"
            )
        }
        named = configuration.tls?.files ?? []
        web.use([stamp] + named.map { FileStamp($0) })
        let policy: TLSPolicy? = if let tls = configuration.tls { try TLSPolicy(tls, path: path) } else { nil }
        rules.web = configuration
        rules.tls = policy
    }

    private mutating func readTokens(_ directory: String) throws(ConfigurationProblem) {
        tokens.use(TokenDirectory.stamp(directory))
        let tokens = try TokenDirectory.read(directory)
        rules.tokens = TokenSet(tokens.filter { $0.role == .ingest })
        rules.readTokens = TokenSet(tokens.filter { $0.role == .read })
        rules.needsToken = rules.needsToken || !rules.tokens.isEmpty
        rules.needsReadToken = rules.needsReadToken || !rules.readTokens.isEmpty
    }

    private func webStamps(_ path: String) -> [FileStamp] {
        [FileStamp(path)] + named.map { FileStamp($0) }
    }
}

extension SecurityFiles {
    /// Likely mistakes in the files, or in the configuration that names them.
    func warnings(_ configuration: ServeConfiguration) -> [ConfigurationProblem] {
        var warnings = unknownTokens(configuration.tokenLimits.keys.sorted())
        if let credentials, rules.needsReadToken, !rules.needsToken {
            warnings.append(
                ConfigurationProblem(
                    .file(credentials.path, line: nil),
                    "found tokens for reading alone (\(BearerToken.Role.read.prefix)NAME); events need no token"
                )
            )
        } else if let credentials, !rules.needsToken, TokenDirectory.holdsOthers(credentials.path) {
            warnings.append(
                ConfigurationProblem(
                    .file(credentials.path, line: nil),
                    "expected a token in a file \(BearerToken.Role.ingest.prefix)NAME, found files of other names only; events "
                        + "need no token"
                )
            )
        }
        warnings += consoleWarnings(configuration)
        if rules.web.asksForHTTP2, let webPath {
            warnings.append(
                ConfigurationProblem(.file(webPath, line: nil), "http2: ignored, only HTTP/1.1 is supported")
            )
        }
        return warnings
    }

    /// A warning for each world-readable secret, as a container's often are.
    var exposures: [ConfigurationProblem] {
        secrets.filter(FileMode.isWorldReadable).map { path in
            ConfigurationProblem(
                .file(path, line: nil),
                "everybody on this machine can read it; set its mode (chmod o-r, or defaultMode of the secret)"
            )
        }
    }

    /// The problem of token limits without tokens, which would limit nobody.
    func problem(withLimits limits: [String: Double]) -> ConfigurationProblem? {
        guard !limits.isEmpty, !rules.needsToken else { return nil }
        let place = credentials.map { " in \($0.path)" } ?? "; credentials-dir names their directory"
        return ConfigurationProblem(
            .option("--token-limit"),
            "expected tokens beside it, in files \(BearerToken.Role.ingest.prefix)NAME, found none\(place)"
        )
    }

    /// What weakens the console, or shuts somebody out of it by mistake.
    private func consoleWarnings(_ configuration: ServeConfiguration) -> [ConfigurationProblem] {
        guard configuration.hasConsole else { return [] }
        var warnings = configuration.consoleUsers.filter { rules.web.users[$0] == nil }.map { name in
            let suggestion = NearestName.of(name, in: rules.web.users.keys).map { "; did you mean \($0)?" } ?? ""
            return ConfigurationProblem(
                .option("--console-users"),
                "expected a user of the web configuration, found \"\(name.prefix(80))\"\(suggestion)"
            )
        }
        let policy = rules.web.headers.first { $0.name == "Content-Security-Policy" }?.value
        if let webPath, let policy, policy != ConsoleHeaders.contentSecurityPolicy {
            warnings.append(
                ConfigurationProblem(
                    .file(webPath, line: nil),
                    "Content-Security-Policy: not sent with the console's answers, which keep their own"
                )
            )
        }
        return warnings
    }

    /// The problem of a list of readers without users, which would let everybody in.
    func problem(withReaders readers: [String]) -> ConfigurationProblem? {
        guard !readers.isEmpty, rules.web.users.isEmpty else { return nil }
        return ConfigurationProblem(
            .option("--console-users"),
            "expected users beside it, as basic_auth_users of the web configuration, found none"
        )
    }

    private func unknownTokens(_ names: [String]) -> [ConfigurationProblem] {
        names.filter { !rules.tokens.names.contains($0) }.map { name in
            let suggestion = NearestName.of(name, in: rules.tokens.names).map { "; did you mean \($0)?" } ?? ""
            return ConfigurationProblem(
                .option("--token-limit"),
                "expected the name of a token, found \"\(name.prefix(80))\"\(suggestion)"
            )
        }
    }

    /// The files whose content authorizes a client or identifies the service.
    private var secrets: [String] {
        let tokens = credentials.map { directory in
            rules.tokens.names.map { "\(directory.path)/\(BearerToken.Role.ingest.prefix)\($0)" }
                + rules.readTokens.names.map { "\(directory.path)/\(BearerToken.Role.read.prefix)\($0)" }
        }
        let key: String? =
            switch rules.web.tls?.key {
            case .file(let path)?: path
            case .inline?: webPath
            case nil: nil
            }
        return (tokens ?? []) + [key].compactMap { $0 }
    }
}

/// Debounces a change of files: it is reported once the stamp is the same at two looks, so that no file is read half
/// written.
struct DebouncedChange<Stamp: Equatable & Sendable>: Sendable {
    private var used: Stamp
    private var seen: Stamp?

    /// - Parameter used: the stamp of what was last read.
    init(used: Stamp) {
        self.used = used
    }

    /// Whether to read now; the stamp then counts as read, whether reading succeeds or not.
    mutating func look(_ stamp: Stamp) -> Bool {
        if stamp == used {
            seen = nil
            return false
        }
        guard stamp == seen else {
            seen = stamp
            return false
        }
        use(stamp)
        return true
    }

    /// Notes the stamp of what was read.
    mutating func use(_ stamp: Stamp) {
        used = stamp
        seen = nil
    }
}

/// Identifies the state of a file by inode, size, times and mode (stat(2)), or by the error if there is none.
struct FileStamp: Hashable, Sendable {
    private var values: [Int64]

    /// Follows symbolic links, since secrets of containers are links.
    init(_ path: String) {
        var status = Glibc.stat()
        guard unsafe stat(path, &status) == 0 else {
            values = [Int64(errno)]
            return
        }
        values = [
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), Int64(status.st_ctim.tv_sec),
            Int64(status.st_ctim.tv_nsec), Int64(status.st_mode),
        ]
    }
}

/// Access rights by the modes of a file and its directory (inode(7)).
private enum FileMode {
    /// Whether others than owner and group can read the file and reach it in its directory.
    static func isWorldReadable(_ path: String) -> Bool {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        return has(S_IROTH, path) && has(S_IXOTH, directory)
    }

    private static func has(_ right: mode_t, _ path: String) -> Bool {
        var status = Glibc.stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & right != 0
    }
}
