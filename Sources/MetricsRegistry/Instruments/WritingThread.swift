// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The one thread that may write to a word with a plain load and store: the first one that asks.
///
/// A histogram is mostly written by one thread, which then needs no atomic read-modify-write for each of its words.
/// Other threads use another word. When the thread has ended, a later thread with the same identity may take over; two
/// running threads never share one.
struct WritingThread: ~Copyable, Sendable {
    private let identity = Atomic<UInt>(0)

    init() {}

    /// Claims the word for the calling thread; true if it is the owner.
    ///
    /// Never inlined, and not treated as a pure function because of its atomic access: an asynchronous function may
    /// resume on another thread after an `await`, while the C library declares the identity of a thread as constant.
    @inline(never)
    func claim() -> Bool {
        let current = Self.current
        let found = identity.load(ordering: .relaxed)
        if found == current { return true }
        return found == 0 && identity.compareExchange(expected: 0, desired: current, ordering: .relaxed).exchanged
    }

    /// Identifies the calling thread among all running ones; never 0.
    private static var current: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
