// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What connections and requests are held against at one moment, as the files say.
struct SecurityRules: Sendable {
    var web = WebConfiguration()
    var tls: TLSTerms?
    var tokens = TokenSet.none
    /// Whether events need a token; stays so while the service runs, also when the last token is taken away.
    var needsToken = false
}

/// The rules of this moment.
final class LiveSecurityRules: Sendable {
    private let held: Mutex<SecurityRules>

    init(_ rules: SecurityRules) {
        held = Mutex(rules)
    }

    var current: SecurityRules { held.withLock { $0 } }

    func replace(with rules: SecurityRules) {
        held.withLock { $0 = rules }
    }
}
