// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Checks passwords on threads of its own, few at once, so that guessing takes no processor from the rest.
final class PasswordCheck: Sendable {
    /// How many checks may run or wait at once; more are refused.
    static let maximumWaiting = 32

    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: max(1, System.coreCount / 2))
        threads.start()
        return threads
    }()

    private let verified = Mutex(VerifiedPasswords())
    private let waiting = Atomic(0)

    /// Whether the password is the user's; nil when too many checks wait. An unknown user takes as long as a known one.
    func verify(user: [UInt8], password: [UInt8], _ web: WebConfiguration) async -> Bool? {
        let known = String(validating: user, as: UTF8.self).flatMap { web.users[$0] }
        let hash = known ?? web.nobody
        let entry = verified.withLock { $0.entry(user: user, hash, password: password) }
        if known != nil, verified.withLock({ $0.contains(entry) }) { return true }
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.maximumWaiting else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        defer { waiting.wrappingSubtract(1, ordering: .relaxed) }
        let isRight = (try? await Self.threads.runIfActive { Bcrypt.verify(password, hash) }) ?? false
        guard isRight, known != nil else { return false }
        verified.withLock { $0.insert(entry) }
        return true
    }
}
