// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The parts of the service that accept connections, each of which begins by itself: tells once when all of them have.
final class AllListening: Sendable {
    enum Part: CaseIterable {
        case http, lines
    }

    private let begun = Mutex<[Part: [ListeningAddress]]>([:])
    private let whenAll: @Sendable ([ListeningAddress]) -> Void

    /// - Parameter whenAll: called with where the service listens, in the order of the parts.
    init(whenAll: @escaping @Sendable ([ListeningAddress]) -> Void) {
        self.whenAll = whenAll
    }

    /// A part accepts connections at these addresses.
    func begins(_ part: Part, at addresses: [ListeningAddress]) {
        let all = begun.withLock { begun -> [ListeningAddress]? in
            guard begun[part] == nil else { return nil }
            begun[part] = addresses
            guard begun.count == Part.allCases.count else { return nil }
            return Part.allCases.flatMap { begun[$0] ?? [] }
        }
        if let all { whenAll(all) }
    }
}
