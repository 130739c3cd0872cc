// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A POSIX thread with a name, which leaves signals to the process's other threads.
///
/// Only the signals of a fault of the thread itself stay unblocked, so that a crash handler still runs.
@safe
package final class NamedThread: Sendable {
    private final class Body {
        let run: () -> Void

        init(_ run: @escaping () -> Void) {
            self.run = run
        }
    }

    private static let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT]

    private let thread: pthread_t

    /// Starts a thread that runs `body` once.
    ///
    /// - Parameters:
    ///   - name: the name that top(1), ps(1) and a debugger show; the kernel keeps 15 bytes.
    ///   - body: what runs on the thread.
    /// - Throws: the error of pthread_create(3).
    package init(name: String, _ body: sending @escaping () -> Void) throws(ErrorNumber) {
        // A thread inherits the mask of its creator, so there is no moment at which it takes a signal.
        var blocked = sigset_t()
        var previous = sigset_t()
        _ = unsafe sigfillset(&blocked)
        for signal in Self.faults { _ = unsafe sigdelset(&blocked, signal) }
        _ = unsafe pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }

        let context = unsafe Unmanaged.passRetained(
            Body {
                Self.nameCurrentThread(name)
                body()
            }
        )
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                }
                return nil
            },
            context.toOpaque()
        )
        guard code == 0 else {
            unsafe context.release()
            throw ErrorNumber(code)
        }
        self.thread = thread
    }

    /// Names the thread through procfs, because Glibc hides pthread_setname_np(3) behind `_GNU_SOURCE`.
    private static func nameCurrentThread(_ name: String) {
        let descriptor = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let bytes = Array(name.utf8.prefix(15))
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        _ = close(descriptor)
    }

    /// Waits until the thread has ended; called on the thread itself, detaches it instead.
    ///
    /// Call it at most once, and not after ``detach()``.
    package func join() {
        if pthread_equal(thread, pthread_self()) != 0 {
            detach()
        } else {
            _ = pthread_join(thread, nil)
        }
    }

    /// Lets the thread end without anyone waiting for it.
    package func detach() {
        _ = pthread_detach(thread)
    }
}
