// SPDX-License-Identifier: Apache-2.0

/// The files that say who may do what, read once and again when they change. What cannot be taken later leaves the
/// rules as they are, so that no slip opens a door.
struct SecurityFiles {
    /// What was read anew, and whether it could be taken.
    struct Reading {
        enum Subject: String, CaseIterable {
            case webConfiguration = "web_config"
            case tokens
        }

        let subject: Subject
        let problem: ConfigurationProblem?
    }

    let webPath: String?
    let credentials: CredentialsDirectory?
    private(set) var rules = SecurityRules()
    private var web: SettledChange<[FileStamp]>
    private var tokens: SettledChange<[String: FileStamp]>
    /// The files that the web configuration names.
    private var named: [String] = []

    /// Reads everything.
    init(webConfiguration: String?, credentials: CredentialsDirectory?) throws(ConfigurationProblem) {
        webPath = webConfiguration
        self.credentials = credentials
        web = SettledChange(used: [])
        tokens = SettledChange(used: [:])
        if let path = webPath { try readWeb(path, isFirst: true) }
        if let credentials {
            try readTokens(credentials.path)
            guard rules.needsToken || !credentials.mustHoldTokens else {
                throw ConfigurationProblem(
                    .file(credentials.path, line: nil),
                    "expected a token in a file \(TokenDirectory.prefix)NAME, found none; put one there, or leave "
                        + "credentials-dir out so that events need none"
                )
            }
        }
    }

    /// Looks whether something changed and has settled, and reads it then. To be called once a second.
    mutating func look() -> [Reading] {
        var readings: [Reading] = []
        if let path = webPath, web.look(webStamps(path)) { readings.append(rereadWeb(path)) }
        if let credentials, tokens.look(TokenDirectory.stamp(credentials.path)) {
            readings.append(rereadTokens(credentials.path))
        }
        return readings
    }

    /// Reads everything anew, changed or not, and takes all of it or nothing; what could be read beside something that
    /// could not is left for the next look.
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

    /// Stamps are taken before what they stand for is read, so that a change meanwhile is seen at the next look.
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
        if !isFirst, let complaint = rules.web.complaint(aboutChangeTo: configuration) {
            throw ConfigurationProblem(
                .file(path, line: nil),
                complaint
                    + "; any restart puts it in force, that of an upgrade too: put the file back first if that is "
                    + "not meant"
            )
        }
        named = configuration.tls?.files ?? []
        web.use([stamp] + named.map { FileStamp($0) })
        let terms: TLSTerms?
        if let tls = configuration.tls { terms = try TLSTerms(tls, path: path) } else { terms = nil }
        rules.web = configuration
        rules.tls = terms
    }

    private mutating func readTokens(_ directory: String) throws(ConfigurationProblem) {
        tokens.use(TokenDirectory.stamp(directory))
        rules.tokens = TokenSet(try TokenDirectory.read(directory))
        rules.needsToken = rules.needsToken || !rules.tokens.isEmpty
    }

    private func webStamps(_ path: String) -> [FileStamp] {
        [FileStamp(path)] + named.map { FileStamp($0) }
    }
}
