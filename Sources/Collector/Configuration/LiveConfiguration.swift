// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The configuration of this moment: what can change while the service runs is read here each time it is needed.
package final class LiveConfiguration: Sendable {
    private let held: Mutex<ServeConfiguration>

    /// - Parameter configuration: what the service starts with.
    package init(_ configuration: ServeConfiguration) {
        held = Mutex(configuration)
    }

    /// The configuration of this moment.
    package var current: ServeConfiguration { held.withLock { $0 } }

    /// Replaces it, once it has been read anew.
    package func replace(with configuration: ServeConfiguration) {
        held.withLock { $0 = configuration }
    }
}
