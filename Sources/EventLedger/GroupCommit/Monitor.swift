// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A mutex with a condition variable, for a thread that sleeps until there is something to do.
///
/// `Synchronization.Mutex` has no condition variable; this is the pair of pthreads, with waits on CLOCK_MONOTONIC.
@safe final class Monitor: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        _ = unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        _ = unsafe pthread_condattr_init(&attributes)
        _ = unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        _ = unsafe pthread_cond_init(condition, &attributes)
        _ = unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        _ = unsafe pthread_cond_destroy(condition)
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func withLock<R>(_ body: () -> R) -> R {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Waits for a signal; inside ``withLock(_:)`` only. Wake-ups may be spurious.
    func wait() {
        _ = unsafe pthread_cond_wait(condition, mutex)
    }

    /// Waits for a signal or until the time has passed; inside ``withLock(_:)`` only.
    func wait(nanoseconds: UInt64) {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, rest) = min(nanoseconds, Self.longestWait).quotientAndRemainder(dividingBy: 1_000_000_000)
        time.tv_sec += Int(seconds)
        time.tv_nsec += Int(rest)
        if time.tv_nsec >= 1_000_000_000 {
            time.tv_sec += 1
            time.tv_nsec -= 1_000_000_000
        }
        _ = unsafe pthread_cond_timedwait(condition, mutex, &time)
    }

    func signal() {
        _ = unsafe pthread_cond_signal(condition)
    }

    /// A day, so that the sum below cannot overflow; the caller's loop waits again.
    private static let longestWait: UInt64 = 86_400_000_000_000
}
