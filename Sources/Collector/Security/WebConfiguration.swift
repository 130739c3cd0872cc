// SPDX-License-Identifier: Apache-2.0

/// What a `web.config.yml` says, in the form of Prometheus' exporter-toolkit (its docs/web-configuration.md).
struct WebConfiguration: Sendable {
    /// A header of every answer.
    struct Header: Equatable, Sendable {
        var name: String
        var value: String
    }

    /// How connections are encrypted; nil: they are not.
    var tls: TLSSettings?
    /// Whether HTTP/2 is asked for in so many words; HTTP/1.1 is spoken all the same.
    var asksForHTTP2 = false
    /// In the order of their names.
    var headers: [Header] = []
    /// The hash of each user's password; empty: nobody has to tell who they are.
    var users: [String: BcryptHash] = [:]
    /// A hash that costs as much as the dearest of the users and that no password meets.
    var nobody = BcryptHash(ofNobodyAtCost: 10)
    /// The rate of all requests together; nil: any.
    var rateLimit: TokenBucket.Limit?
}

extension WebConfiguration {
    /// How many users there may be.
    static let maximumUsers = 1_000

    private static let sections = ["tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"]

    /// Reads a document.
    ///
    /// - Parameter path: the file, for messages; the files that it names are relative to its directory.
    init(_ document: YAMLNode, path: String) throws(ConfigurationProblem) {
        let root = try WebSection(document, keys: Self.sections, path: path)
        if let section = try root.section("tls_server_config", keys: TLSSettings.keys), !section.isEmpty {
            tls = try TLSSettings(section)
        }
        if let section = try root.section("http_server_config", keys: ["http2", "headers"]) {
            asksForHTTP2 = try section.truth("http2") ?? false
            headers = try Self.headers(section)
        }
        users = try Self.users(root)
        nobody = BcryptHash(ofNobodyAtCost: users.values.map(\.cost).max() ?? BcryptHash.costs.lowerBound)
        if let section = try root.section("rate_limit", keys: ["interval", "burst"]) {
            rateLimit = try Self.rateLimit(section)
        }
    }

    private static func users(_ root: WebSection) throws(ConfigurationProblem) -> [String: BcryptHash] {
        var users: [String: BcryptHash] = [:]
        for entry in try root.mapping("basic_auth_users") {
            let origin = ConfigurationProblem.Origin.file(root.path, line: entry.line)
            guard !entry.key.utf8.contains(UInt8(ascii: ":")) else {
                throw ConfigurationProblem(origin, "expected a user without \":\", found one with it")
            }
            // Who took a hash for the user would find it in the log.
            let user = YAMLNode.isName(entry.key) ? "\"\(entry.key)\": " : ""
            guard case .scalar(let text) = entry.value.value else {
                throw ConfigurationProblem(origin, "\(user)expected a bcrypt hash, found \(entry.value.kind)")
            }
            do throws(BcryptHash.Flaw) {
                users[entry.key] = try BcryptHash(text)
            } catch {
                throw ConfigurationProblem(origin, "\(user)\(error)")
            }
        }
        guard users.count <= maximumUsers else {
            throw root.problem("basic_auth_users", "expected at most \(maximumUsers) users, found \(users.count)")
        }
        return users
    }

    private static func rateLimit(_ section: WebSection) throws(ConfigurationProblem) -> TokenBucket.Limit? {
        guard let text = try section.text("interval") else {
            if section.isEmpty { return nil }
            throw section.problem("burst", "expected an interval beside it, found none")
        }
        guard let interval = GoDuration.seconds(text) else {
            throw section.problem("interval", "expected a duration such as 1s or 100ms, found \"\(text.prefix(80))\"")
        }
        guard interval > 0 else { return nil }
        guard let told = try section.text("burst") else {
            throw section.problem("interval", "expected a burst of at least 1 beside it, found none")
        }
        guard let burst = Int(told), (1...1_000_000_000).contains(burst) else {
            throw section.problem("burst", "expected a number of requests from 1, found \"\(told.prefix(80))\"")
        }
        return TokenBucket.Limit(rate: 1 / interval, burst: Double(burst))
    }
}

extension BcryptHash.Flaw: CustomStringConvertible {
    var description: String {
        switch self {
        case .notBcrypt:
            "expected a bcrypt hash that begins with $2y$, $2b$ or $2a$, found something else; make one with "
                + "htpasswd -nBC 10 \"\""
        case .cost(let cost):
            "expected a bcrypt hash of a cost from \(BcryptHash.costs.lowerBound) to \(BcryptHash.costs.upperBound), "
                + "found \(cost)"
        }
    }
}

extension WebConfiguration {
    /// The headers that can be set, with their values where only some are allowed: the toolkit's five.
    private static let allowed: [String: [String]] = [
        "Content-Security-Policy": [],
        "Strict-Transport-Security": [],
        "X-Content-Type-Options": ["nosniff"],
        "X-Frame-Options": ["deny", "sameorigin"],
        "X-XSS-Protection": [],
    ]

    /// The longest value of a header in bytes.
    private static let maximumValue = 8_192

    static func headers(_ section: WebSection) throws(ConfigurationProblem) -> [Header] {
        guard let headers = try section.section("headers", keys: allowed.keys.sorted()) else { return [] }
        var found: [Header] = []
        for (name, values) in allowed.sorted(by: { $0.key < $1.key }) {
            guard let value = try headers.text(name) else { continue }
            guard values.isEmpty || values.contains(value) else {
                let expected = values.joined(separator: " or ")
                throw headers.problem(name, "expected \(expected), found \"\(value.prefix(80))\"")
            }
            guard value.utf8.count <= maximumValue, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw headers.problem(
                    name,
                    "expected at most \(maximumValue) ASCII characters in one line, found others"
                )
            }
            found.append(Header(name: name, value: value))
        }
        return found
    }
}

extension WebConfiguration {
    /// What is wrong with a document, section by section and user by user, where reading it all stops at the first problem.
    static func problems(of document: YAMLNode, path: String) -> [ConfigurationProblem] {
        guard case .mapping(let entries) = document.value else { return problem(of: document, path).map { [$0] } ?? [] }
        let pieces = entries.flatMap(pieces)
        let found = pieces.compactMap { problem(of: YAMLNode(value: .mapping([$0]), line: $0.line), path) }
        return found.isEmpty ? problem(of: document, path).map { [$0] } ?? [] : found
    }

    /// Each user by itself; every other section whole.
    private static func pieces(of entry: YAMLNode.Entry) -> [YAMLNode.Entry] {
        guard entry.key == "basic_auth_users", case .mapping(let users) = entry.value.value else { return [entry] }
        return users.map { user in
            var piece = entry
            piece.value.value = .mapping([user])
            return piece
        }
    }

    private static func problem(of document: YAMLNode, _ path: String) -> ConfigurationProblem? {
        do throws(ConfigurationProblem) {
            _ = try WebConfiguration(document, path: path)
            return nil
        } catch {
            return error
        }
    }
}
