// SPDX-License-Identifier: Apache-2.0

package import LogInput

/// How an input is sent.
package struct SendOptions: Sendable {
    /// Where it is sent.
    package var to: CollectorURL
    /// How lines are read that say nothing about it themselves.
    package var reading: LineFormat
    /// What the collector is shown.
    package var access = CollectorAccess()
    /// `$CREDENTIALS_DIRECTORY`.
    package var credentials: String?
    /// What every request has besides its own headers.
    package var headers: [SendHeader] = []
    /// Whether bodies are compressed.
    package var compresses = true
    /// How long after its first failure a batch is given up.
    package var retryFor = Duration.seconds(300)
    /// How long one request may take.
    package var timeout = Duration.seconds(30)

    /// Options with the documented defaults.
    package init(to: CollectorURL, reading: LineFormat) {
        self.to = to
        self.reading = reading
    }
}
