// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The configuration of this moment: what can change while the service runs is read here each time it is needed.
public final class LiveConfiguration: Sendable {
    private let held: Mutex<ServeConfiguration>

    /// - Parameter configuration: what the service starts with.
    public init(_ configuration: ServeConfiguration) {
        held = Mutex(configuration)
    }

    /// The configuration of this moment.
    public var current: ServeConfiguration { held.withLock { $0 } }

    /// Replaces it, once it has been read anew.
    public func replace(with configuration: ServeConfiguration) {
        held.withLock { $0 = configuration }
    }
}
