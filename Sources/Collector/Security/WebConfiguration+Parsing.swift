// SPDX-License-Identifier: Apache-2.0

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
