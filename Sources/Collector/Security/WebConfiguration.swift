// SPDX-License-Identifier: Apache-2.0

/// A `web.config.yml` in the format of Prometheus' exporter-toolkit (web-configuration.md of its documents).
struct WebConfiguration: Sendable {
    /// A header of every response.
    struct Header: Equatable, Sendable {
        var name: String
        var value: String
    }

    /// Nil: connections are not encrypted.
    var tls: TLSSettings?
    /// Whether `http2` is true; HTTP/1.1 is spoken all the same.
    var asksForHTTP2 = false
    /// Sorted by name.
    var headers: [Header] = []
    /// The password hash of each user; empty: no authentication.
    var users: [String: BcryptHash] = [:]
    /// A hash that no password has, with the highest cost among the users, to be checked for unknown users.
    var nobody = BcryptHash(ofNobodyAtCost: 10)
    /// The rate of all requests together; nil: no limit.
    var rateLimit: TokenBucket.Limit?
}

// MARK: Parsing

extension WebConfiguration {
    private static let maximumUsers = 1_000

    private static let sections = ["tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"]

    /// Parses a document.
    ///
    /// - Parameter path: the file, for messages and for relative paths in it.
    init(_ document: YAMLNode, path: String) throws(ConfigurationProblem) {
        let root = try WebSection(document, keys: Self.sections, path: path)
        if let section = try root.section("tls_server_config", keys: TLSSettings.keys), !section.isEmpty {
            tls = try TLSSettings(section)
        }
        if let section = try root.section("http_server_config", keys: ["http2", "headers"]) {
            asksForHTTP2 = try section.boolean("http2") ?? false
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
            // A hash written in place of the user must not get into the log.
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
        guard let burstText = try section.text("burst") else {
            throw section.problem("interval", "expected a burst of at least 1 beside it, found none")
        }
        guard let burst = Int(burstText), (1...1_000_000_000).contains(burst) else {
            throw section.problem("burst", "expected a number of requests from 1, found \"\(burstText.prefix(80))\"")
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
    /// The headers that can be set, as in the exporter-toolkit, with the allowed values if not every value is.
    private static let allowedHeaders: [String: [String]] = [
        "Content-Security-Policy": [],
        "Strict-Transport-Security": [],
        "X-Content-Type-Options": ["nosniff"],
        "X-Frame-Options": ["deny", "sameorigin"],
        "X-XSS-Protection": [],
    ]

    private static let maximumHeaderBytes = 8_192

    private static func headers(_ section: WebSection) throws(ConfigurationProblem) -> [Header] {
        guard let headers = try section.section("headers", keys: allowedHeaders.keys.sorted()) else { return [] }
        var found: [Header] = []
        for (name, values) in allowedHeaders.sorted(by: { $0.key < $1.key }) {
            guard let value = try headers.text(name) else { continue }
            guard values.isEmpty || values.contains(value) else {
                let expected = values.joined(separator: " or ")
                throw headers.problem(name, "expected \(expected), found \"\(value.prefix(80))\"")
            }
            guard value.utf8.count <= maximumHeaderBytes, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw headers.problem(
                    name,
                    "expected at most \(maximumHeaderBytes) ASCII characters in one line, found others"
                )
            }
            found.append(Header(name: name, value: value))
        }
        return found
    }
}

// MARK: Problems

extension WebConfiguration {
    /// The problems of a document, one for each section and user; parsing it as a whole stops at the first.
    static func problems(of document: YAMLNode, path: String) -> [ConfigurationProblem] {
        guard case .mapping(let entries) = document.value else { return problem(of: document, path).map { [$0] } ?? [] }
        let pieces = entries.flatMap(pieces)
        let found = pieces.compactMap { problem(of: YAMLNode(value: .mapping([$0]), line: $0.line), path) }
        return found.isEmpty ? problem(of: document, path).map { [$0] } ?? [] : found
    }

    /// A piece for each user, and for each other section.
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
