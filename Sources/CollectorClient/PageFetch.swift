// SPDX-License-Identifier: Apache-2.0

package import LogInput

/// Fetches the page of metrics of a collector.
package struct PageFetch: Sendable {
    /// The path where none is named.
    package static let path = "/metrics"

    /// Why there is no page.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
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

    /// Requests the page once.
    package func page() async throws(Problem) -> String {
        defer { Task { await client.close() } }
        let answer: CollectorAnswer
        do throws(Unreachable) {
            answer = try await client.get()
        } catch {
            throw Problem(description: "\(url): \(error.reason)")
        }
        guard answer.status == 200 else {
            throw Problem(description: "\(url): expected HTTP 200, found \(BatchOutcome.words(answer))")
        }
        let page = String(decoding: answer.body, as: UTF8.self)
        guard page.contains("dnp_prefetch_scheduled_total") else {
            throw Problem(description: "\(url): expected the page of a collector, found another's")
        }
        return page
    }
}
