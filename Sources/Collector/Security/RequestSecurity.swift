// SPDX-License-Identifier: Apache-2.0

/// Decides about requests.
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

    /// Takes one request of the client's rate and of the rate of all.
    func keepRates(_ client: ClientAddress?) throws(Problem) {
        if let client, let rate = configuration.current.clientRate, let wait = rates.take(client, rate: rate) {
            metrics.limited(.client)
            throw .tooFast("More requests come from this address than are allowed (see --client-rate).", wait: wait)
        }
        if let limit = rules.current.web.rateLimit, let wait = rates.take(of: limit) {
            metrics.limited(.webConfiguration)
            throw .tooFast("More requests come than are allowed (see rate_limit in the web configuration).", wait: wait)
        }
    }

    /// The name of the token that is shown.
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

    /// Lets a user of the web configuration pass.
    func checkUser(_ authorization: Authorization, _ rules: SecurityRules) async throws(Problem) {
        switch authorization {
        case .basic(let user, let password):
            switch await passwords.verify(user: user, password: password, rules.web) {
            case true?: return
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

    /// Counts the events of a batch that came with a token, and takes them off its rate; a batch of none costs one.
    ///
    /// - Returns: what was taken, to give back but for one when nothing of the batch could be stored.
    func charge(_ events: Int, token: String?) throws(Problem) -> Charge? {
        guard let token else { return nil }
        metrics.received(events, token: token)
        guard let rate = configuration.current.tokenLimits[token] else { return nil }
        let charge = Charge(token: token, events: max(1, events))
        guard let wait = rates.charge(charge.events, token: token, rate: rate) else { return charge }
        metrics.limited(.token)
        throw .tokenTooFast(wait: wait)
    }

    func giveBack(_ charge: Charge) {
        rates.giveBack(charge.events, token: charge.token)
    }

    /// What was taken of a token's rate.
    struct Charge {
        fileprivate let token: String
        fileprivate let events: Int
    }
}

extension Problem {
    fileprivate static func tokenTooFast(wait: Duration) -> Problem {
        tooFast("More events come with this token than are allowed (see --token-limit).", wait: wait)
    }
}
