// SPDX-License-Identifier: Apache-2.0

/// How an input is sent.
public struct SendOptions: Sendable {
    /// Where it is sent.
    public var to: CollectorURL
    /// How lines are read that say nothing about it themselves.
    public var reading: JudgementOptions
    /// What the collector is shown.
    public var access = CollectorAccess()
    /// `$CREDENTIALS_DIRECTORY`.
    public var credentials: String?
    /// What every request has besides its own headers.
    public var headers: [SendHeader] = []
    /// Whether bodies are compressed.
    public var compresses = true
    /// How long after its first failure a batch is given up.
    public var retryFor = Duration.seconds(300)
    /// How long one request may take.
    public var timeout = Duration.seconds(30)

    /// Options with the documented defaults.
    public init(to: CollectorURL, reading: JudgementOptions) {
        self.to = to
        self.reading = reading
    }
}
