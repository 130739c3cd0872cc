// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// Enforces the request rates, then authenticates each request (docs/security.md).
///
/// With tokens, `POST /v1/events` needs a token and nothing else. The console needs who may read (``ReadGrant``). With
/// users, everything else needs a user, health checks included as in Prometheus' exporter-toolkit.
struct AccessMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    let security: RequestSecurity
    let served: ServedPaths

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try security.enforceRates(ClientAddress(context.peer))
        let rules = security.rules.current
        let authorization = Authorization(request.headers[.authorization])
        var context = context
        // The route and not the path: one path can be written in several ways.
        switch served.part(of: context.endpointPath) {
        case .ingest:
            switch RequestOrigin(request, security.configuration.current.allowedOrigins) {
            case .own: break
            case .allowed: if RequestOrigin.isPreflight(request) { return try await next(request, context) }
            case .foreign: if request.method == .post { throw Problem.foreignOrigin }
            }
            if request.method == .post, rules.isReadToken(authorization) { throw Problem.ingestTokenNeeded }
            if rules.needsToken, request.method == .post {
                context.token = try security.token(authorization, rules)
            } else if !rules.web.users.isEmpty {
                _ = try await security.checkUser(authorization, rules)
            }
        case .console:
            if request.method == .post, !RequestOrigin.isSameOrigin(request) { throw Problem.foreignSite }
            let grant = try await security.reader(authorization, rules)
            context.stillAllowed = { [security] in security.stillAllowed(grant) }
        case .metrics, .health, nil:
            if !rules.web.users.isEmpty { _ = try await security.checkUser(authorization, rules) }
        }
        return try await next(request, context)
    }
}

/// What let a request read the console, so that a long answer can end once it no longer would.
///
/// It has no description, so that a token can't get into a message.
enum ReadGrant: Sendable {
    /// Neither users nor tokens for reading are configured.
    case open
    /// A user, with the hash that the password was checked against.
    case user(String, BcryptHash)
    /// A token for reading.
    case token(name: String, shown: [UInt8])
}

extension RequestSecurity {
    /// Admits a client to the console: a token for reading, or a user who may read; anyone where there are neither.
    func reader(_ authorization: Authorization, _ rules: SecurityRules) async throws(Problem) -> ReadGrant {
        if case .bearer(let shown) = authorization {
            if let name = rules.readTokens.name(of: shown) { return .token(name: name, shown: shown) }
            if rules.tokens.name(of: shown) != nil { throw .readTokenNeeded }
            if rules.needsReadToken {
                metrics.unauthorized(.token)
                throw .tokenNeeded(isWrong: true)
            }
        }
        if !rules.web.users.isEmpty {
            let (user, hash) = try await checkUser(authorization, rules)
            guard mayRead(user) else { throw .readerNeeded }
            return .user(user, hash)
        }
        guard !rules.needsReadToken else {
            metrics.unauthorized(authorization == .missing ? .missing : .malformed)
            throw .tokenNeeded(isWrong: false)
        }
        return .open
    }

    /// Whether a client that was admitted would still be: its token, or its user with the same password, is not withdrawn.
    ///
    /// A long-lived answer asks this while it goes on.
    func stillAllowed(_ grant: ReadGrant) -> Bool {
        let rules = rules.current
        switch grant {
        case .open: return rules.web.users.isEmpty && !rules.needsReadToken
        case .user(let user, let hash): return rules.web.users[user] == hash && mayRead(user)
        case .token(let name, let shown): return rules.readTokens.name(of: shown) == name
        }
    }

    private func mayRead(_ user: String) -> Bool {
        let readers = configuration.current.consoleUsers
        return readers.isEmpty || readers.contains(user)
    }
}

extension SecurityRules {
    fileprivate func isReadToken(_ authorization: Authorization) -> Bool {
        guard case .bearer(let shown) = authorization else { return false }
        return readTokens.name(of: shown) != nil
    }
}

/// Decides which requests are admitted, by rate, token and password.
struct RequestSecurity: Sendable {
    let rules: LiveSecurityRules
    let configuration: LiveConfiguration
    let metrics: SecurityMetrics
    let rates = RequestRates()
    private let passwords = PasswordCheck()

    init(rules: LiveSecurityRules, configuration: LiveConfiguration, metrics: SecurityMetrics) {
        self.rules = rules
        self.configuration = configuration
        self.metrics = metrics
    }

    /// Charges a request to the client's rate and to the rate of all requests.
    func enforceRates(_ client: ClientAddress?) throws(Problem) {
        if let client, let rate = configuration.current.clientRate, let wait = rates.take(client, rate: rate) {
            metrics.limited(.client)
            throw .tooFast("This address is over its request rate (see --client-rate).", wait: wait)
        }
        if let limit = rules.current.web.rateLimit, let wait = rates.take(of: limit) {
            metrics.limited(.webConfiguration)
            throw .tooFast(
                "The service is over its request rate (see rate_limit in the web configuration).",
                wait: wait
            )
        }
    }

    /// Checks a bearer token and its rate.
    ///
    /// - Returns: the token's name.
    func token(_ authorization: Authorization, _ rules: SecurityRules) throws(Problem) -> String {
        switch authorization {
        case .bearer(let shown):
            guard let name = rules.tokens.name(of: shown) else {
                metrics.unauthorized(.token)
                throw .tokenNeeded(isWrong: true)
            }
            if let rate = configuration.current.tokenLimits[name], let wait = rates.wait(token: name, rate: rate) {
                metrics.limited(.token)
                throw .tokenTooFast(wait: wait)
            }
            return name
        case .missing:
            metrics.unauthorized(.missing)
            throw .tokenNeeded(isWrong: false)
        case .malformed, .basic:
            metrics.unauthorized(.malformed)
            throw .tokenNeeded(isWrong: false)
        }
    }

    /// Checks a user and password against the web configuration.
    ///
    /// - Returns: the user, and the hash that the password has.
    func checkUser(
        _ authorization: Authorization,
        _ rules: SecurityRules
    ) async throws(Problem) -> (String, BcryptHash) {
        switch authorization {
        case .basic(let user, let password):
            switch await passwords.verify(user: user, password: password, rules.web) {
            case true?:
                let name = String(decoding: user, as: UTF8.self)
                if let hash = rules.web.users[name] { return (name, hash) }
            case false?: metrics.unauthorized(.password)
            case nil:
                metrics.limited(.passwords)
                throw .tooManyPasswords()
            }
        case .missing: metrics.unauthorized(.missing)
        case .malformed, .bearer: metrics.unauthorized(.malformed)
        }
        throw .userNeeded
    }

    /// Counts the events of a batch by token, and charges them to the token's rate; an empty batch costs one event.
    ///
    /// - Parameter isDryRun: whether the events are judged only, which costs the same and is not counted.
    /// - Returns: the charge, to be refunded (all but one event) if the batch could not be stored.
    func charge(_ events: Int, token: String?, isDryRun: Bool) throws(Problem) -> Charge? {
        guard let token else { return nil }
        if !isDryRun { metrics.received(events, token: token) }
        guard let rate = configuration.current.tokenLimits[token] else { return nil }
        let charge = Charge(token: token, events: max(1, events))
        guard let wait = rates.charge(charge.events, token: token, rate: rate) else { return charge }
        metrics.limited(.token)
        throw .tokenTooFast(wait: wait)
    }

    func giveBack(_ charge: Charge) {
        rates.giveBack(charge.events, token: charge.token)
    }

    /// Events charged to a token's rate.
    struct Charge {
        fileprivate let token: String
        fileprivate let events: Int
    }
}

extension Problem {
    /// - Parameter isWrong: whether a token was presented (RFC 6750, 3).
    static func tokenNeeded(isWrong: Bool) -> Problem {
        Problem(
            status: .unauthorized,
            type: "token",
            title: isWrong ? "Wrong token" : "Token needed",
            detail: "Expected Authorization: Bearer with a token of this service, found "
                + (isWrong ? "another one." : "none."),
            authenticate: #"Bearer realm="dnp-telemetry""# + (isWrong ? #", error="invalid_token""# : "")
        )
    }

    /// A challenge for basic authentication (RFC 7617).
    static let userNeeded = Problem(
        status: .unauthorized,
        type: "user",
        title: "User and password needed",
        detail: "Expected Authorization: Basic with a user and the password, found none or a wrong one.",
        authenticate: #"Basic realm="dnp-telemetry", charset="UTF-8""#
    )

    /// A valid token that may not do this.
    static let readTokenNeeded = Problem(
        status: .forbidden,
        type: "role",
        title: "Not a token for reading",
        detail: "Expected a token of a file read-token-NAME, found one for ingest."
    )

    static let ingestTokenNeeded = Problem(
        status: .forbidden,
        type: "role",
        title: "Not a token for ingest",
        detail: "Expected a token of a file token-NAME, found one for reading; nothing was stored."
    )

    static let readerNeeded = Problem(
        status: .forbidden,
        type: "role",
        title: "Not a reader",
        detail: "Expected one of the users of --console-users, found another one."
    )

    static func tooManyPasswords() -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "too-many-passwords",
            title: "Too many passwords",
            detail: "Too many password checks are running. Try again.",
            retryAfter: RetryHint.jittered(.seconds(1))
        )
    }

    fileprivate static func tokenTooFast(wait: Duration) -> Problem {
        tooFast("This token is over its event rate (see --token-limit).", wait: wait)
    }

    /// - Parameter wait: the time until a retry can succeed; `Retry-After` adds jitter of a quarter, or 2 s if that is
    ///   more.
    static func tooFast(_ detail: String, wait: Duration) -> Problem {
        let seconds = Int(wait.components.seconds) + 1
        return Problem(
            status: .tooManyRequests,
            type: "rate",
            title: "Too fast",
            detail: detail,
            retryAfter: seconds + Int.random(in: 0...max(2, seconds / 4))
        )
    }
}

/// A parsed `Authorization` header.
enum Authorization: Equatable {
    case missing
    /// An unknown scheme, or not the form of its scheme.
    case malformed
    /// A user and a password (RFC 7617).
    case basic(user: [UInt8], password: [UInt8])
    /// A token (RFC 6750).
    case bearer([UInt8])

    /// Longer headers are malformed; in bytes.
    static let maximumLength = 8_192

    init(_ header: String?) {
        guard let header else {
            self = .missing
            return
        }
        let bytes = Array(header.utf8)
        guard bytes.count <= Self.maximumLength, let space = bytes.firstIndex(of: UInt8(ascii: " ")) else {
            self = .malformed
            return
        }
        let rest = bytes[space...].drop { $0 == UInt8(ascii: " ") }
        switch String(decoding: bytes[..<space], as: UTF8.self).lowercased() {
        case "bearer" where !rest.isEmpty: self = .bearer(Array(rest))
        case "basic": self = Self.basic(Array(rest))
        default: self = .malformed
        }
    }

    private static func basic(_ encoded: [UInt8]) -> Authorization {
        guard let decoded = Data(base64Encoded: Data(encoded)), let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
        else { return .malformed }
        return .basic(user: Array(decoded[..<colon]), password: Array(decoded[(colon + 1)...]))
    }
}
