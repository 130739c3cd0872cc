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
