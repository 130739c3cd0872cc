// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import MetricsRegistry
import NIOCore
import TestSupport
import Testing

@testable import Collector

@Suite("Who may read the console")
struct ReaderTests {
    private static let ingest = "ingest-0123456789"
    private static let reading = "reading-0123456789"
    private static let hash = "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

    private static func bearer(_ token: String) -> Authorization { .bearer(Array(token.utf8)) }

    private let live: LiveSecurityRules
    private let settings: LiveConfiguration
    private let security: RequestSecurity

    init() {
        live = LiveSecurityRules(SecurityRules())
        settings = LiveConfiguration(ServeConfiguration(stateDirectory: "/nowhere"))
        security = RequestSecurity(
            rules: live,
            configuration: settings,
            metrics: SecurityMetrics(MetricsRegistry(now: { 0 }) { _ in })
        )
    }

    private func change(_ body: (inout SecurityRules) -> Void) {
        var rules = live.current
        body(&rules)
        live.replace(with: rules)
    }

    private func grant(_ authorization: Authorization) async throws -> ReadGrant {
        try await security.reader(authorization, live.current)
    }

    private func status(_ authorization: Authorization) async -> Int {
        do {
            _ = try await grant(authorization)
            return 200
        } catch let problem as Problem {
            return problem.status.code
        } catch {
            return 0
        }
    }

    private static func tokens(_ names: [String: String], _ role: BearerToken.Role) -> TokenSet {
        TokenSet(names.map { BearerToken(role: role, name: $0.key, bytes: Array($0.value.utf8)) })
    }

    @Test("a console without users and tokens for reading is open, but not to a token for ingest")
    func open() async {
        #expect(await status(.missing) == 200)
        change {
            $0.tokens = Self.tokens(["ios": Self.ingest], .ingest)
            $0.needsToken = true
        }
        #expect(await status(.missing) == 200)
        #expect(await status(Self.bearer(Self.ingest)) == 403)
    }

    @Test("a console with tokens for reading needs one where there are no users")
    func tokenNeeded() async throws {
        change {
            $0.tokens = Self.tokens(["ios": Self.ingest], .ingest)
            $0.readTokens = Self.tokens(["ci": Self.reading], .read)
            $0.needsReadToken = true
        }
        #expect(await status(.missing) == 401)
        #expect(await status(.malformed) == 401)
        #expect(await status(Self.bearer("another-0123456789")) == 401)
        #expect(await status(Self.bearer(Self.ingest)) == 403)
        #expect(await status(Self.bearer(Self.reading)) == 200)
        let given = try await grant(Self.bearer(Self.reading))
        #expect(security.stillAllowed(given))
        change { $0.readTokens = Self.tokens(["ci": Self.reading + "2"], .read) }
        #expect(!security.stillAllowed(given))
        change { $0.readTokens = .none }
        // Removing the last token does not open the console.
        #expect(await status(.missing) == 401)
    }

    @Test("an open console's stream ends once users or tokens for reading are set")
    func openEnds() async throws {
        let given = try await grant(.missing)
        #expect(security.stillAllowed(given))
        change { $0.needsReadToken = true }
        #expect(!security.stillAllowed(given))
        change { $0.needsReadToken = false }
        let hash = try BcryptHash(Self.hash)
        change { $0.web.users = ["alice": hash] }
        #expect(!security.stillAllowed(given))
        #expect(await status(.missing) == 401)
        #expect(security.stillAllowed(.user("alice", hash)))
        var configuration = settings.current
        configuration.consoleUsers = ["bob"]
        settings.replace(with: configuration)
        #expect(!security.stillAllowed(.user("alice", hash)))
        configuration.consoleUsers = ["alice"]
        settings.replace(with: configuration)
        #expect(security.stillAllowed(.user("alice", hash)))
        change { $0.web.users = ["alice": BcryptHash(ofNobodyAtCost: 5)] }
        #expect(!security.stillAllowed(.user("alice", hash)))
    }

    @Test(
        "a console post is of the same origin by Sec-Fetch-Site, or without that header by Origin",
        arguments: [
            (nil, nil, true), ("same-origin", nil, true), ("same-origin", "http://collector:1", true),
            ("cross-site", nil, false), ("same-site", nil, false), ("none", nil, false), ("", nil, false),
            (nil, "http://collector:1", true), (nil, "https://evil.example", false), (nil, "null", false),
            ("cross-site", "http://collector:1", false),
        ] as [(String?, String?, Bool)]
    )
    func sameOrigin(site: String?, origin: String?, isSame: Bool) throws {
        var headers = HTTPFields()
        if let site { headers[try #require(HTTPField.Name("Sec-Fetch-Site"))] = site }
        headers[.origin] = origin
        let head = HTTPRequest(
            method: .post,
            scheme: "http",
            authority: "collector:1",
            path: "/",
            headerFields: headers
        )
        #expect(RequestOrigin.isSameOrigin(Request(head: head, body: .init(buffer: ByteBuffer()))) == isSame)
    }
}

extension OneAtATime {
    @Suite("The files of tokens for reading")
    struct ReadTokenFileTests {
        @Test("read-token files are tokens for reading, and no file's token is another's")
        func roles() throws {
            let directory = try TemporaryDirectory()
            try Files.write(Array("ingest-0123456789".utf8), to: directory.file("token-ios"))
            try Files.write(Array("reading-0123456789\n".utf8), to: directory.file("read-token-ci"))
            let files = try SecurityFiles(
                webConfiguration: nil,
                credentials: CredentialsDirectory(directory.path, mustHoldTokens: true)
            )
            #expect(files.rules.tokens.names == ["ios"] && files.rules.readTokens.names == ["ci"])
            #expect(files.rules.needsToken && files.rules.needsReadToken)
            try Files.write(Array("ingest-0123456789".utf8), to: directory.file("read-token-ci"))
            do throws(ConfigurationProblem) {
                _ = try TokenDirectory.read(directory.path)
                Issue.record("one token has two roles")
            } catch {
                #expect(error.description.contains("expected a token of its own"))
            }
        }

        @Test("console-users needs users of the web configuration, and warns of one that there is not")
        func readers() throws {
            let directory = try TemporaryDirectory()
            var configuration = ServeConfiguration(stateDirectory: directory.path)
            configuration.consoleUsers = ["alicia"]
            #expect(
                SecurityCheck(configuration).problems.map(\.description).contains { $0.contains("--console-users") }
            )
            let web = directory.file("web.yml")
            let policy = "http_server_config: {headers: {Content-Security-Policy: \"default-src 'self'\"}}\n"
            let hash = "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
            try Files.write(Array("\(policy)basic_auth_users: {alice: \(hash)}\n".utf8), to: web)
            configuration.webConfigurationFile = web
            let check = SecurityCheck(configuration)
            #expect(check.problems.isEmpty)
            let warnings = check.warnings.map(\.description)
            #expect(warnings.contains { $0.contains("\"alicia\"; did you mean alice?") })
            #expect(warnings.contains { $0.contains("not sent with the console's answers") })
            configuration.hasConsole = false
            #expect(!SecurityCheck(configuration).warnings.map(\.description).contains { $0.contains("console") })
        }
    }
}
