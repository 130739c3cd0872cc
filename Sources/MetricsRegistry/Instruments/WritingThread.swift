// SPDX-License-Identifier: Apache-2.0

public import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The one thread that may write to a word with a plain load and store, as long as the word exists: the first that asks.
///
/// Most instruments are written to by one thread, and then nothing atomic is read, changed and written, which takes
/// several times as long. The others add to another word. Where a thread has ended, a later one that the system gives the
/// same identity takes its place, which cannot be while it still runs.
@usableFromInline
struct WritingThread: ~Copyable, Sendable {
    @usableFromInline let identity = Atomic<UInt>(0)

    init() {}

    /// Whether the calling thread is the one; it becomes the one when there was none.
    ///
    /// Never inlined, and by its atomic access never taken for a function of nothing: an asynchronous function goes on in
    /// another thread behind an `await`, and the C library declares the identity of a thread as one that never changes.
    @usableFromInline @inline(never)
    func isCurrent() -> Bool {
        let current = Self.current
        let found = identity.load(ordering: .relaxed)
        if found == current { return true }
        return found == 0 && identity.compareExchange(expected: 0, desired: current, ordering: .relaxed).exchanged
    }

    /// What tells the calling thread from all others that run; not 0.
    private static var current: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
