// SPDX-License-Identifier: Apache-2.0

package import LogInput
internal import TelemetryEvents

/// Requests a service's readiness.
package struct HealthCheck: Sendable {
    /// The path to request.
    package static let path = "/-/ready"
    /// The beginning of a ready service's answer, which another server at the address would not send.
    private static let ready = Array("dnp-telemetry is ready".utf8)

    /// The outcome of a check.
    package enum Verdict: Equatable, Sendable {
        case ready
        /// It is not, and why.
        case notReady(String)
    }

    private let url: CollectorURL
    private let client: CollectorConnection

    /// - Parameters:
    ///   - url: where the service is, with the path.
    ///   - timeout: how long its answer may take.
    /// - Throws: `InvalidOption` for a file of a secret or of certificates that is none.
    package init(_ url: CollectorURL, _ access: CollectorAccess, timeout: Duration) throws(InvalidOption) {
        self.url = url
        client = try CollectorConnection(url, access, timeout: timeout, credentials: nil)
    }

    /// Whether a secret goes over the network in clear.
    package var tellsSecretInClear: Bool { client.tellsSecretInClear }

    /// Requests once, without retrying.
    package func verdict() async -> Verdict {
        defer { Task { await client.close() } }
        do throws(Unreachable) {
            return Self.verdict(try await client.get(), of: url)
        } catch {
            return .notReady("\(url): \(error.reason)")
        }
    }

    static func verdict(_ answer: CollectorAnswer, of url: CollectorURL) -> Verdict {
        switch answer.status {
        case 200 where answer.body.starts(with: ready): .ready
        case 200: .notReady("\(url): expected the answer of a collector, found another's")
        case 503: .notReady("\(url): not ready yet (HTTP 503)")
        case 401, 403:
            .notReady("\(url): it wants to know who asks (HTTP \(answer.status)); see --basic-auth-file")
        default: .notReady("\(url): expected HTTP 200, found \(BatchOutcome.words(answer))")
        }
    }
}

extension HealthCheck.Verdict {
    /// One object: `{"ready":true,"problem":null}`.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("ready")
            json.value(self == .ready)
            json.name("problem")
            if case .notReady(let reason) = self { json.value(reason) } else { json.value(nil as String?) }
        }
        return json.bytes + Array("\n".utf8)
    }
}
