// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A thread of the operating system that takes no signals.
final class WriterThread: Sendable {
    private let thread: pthread_t

    private final class Body {
        let run: () -> Void

        init(_ run: @escaping () -> Void) {
            self.run = run
        }
    }

    /// Starts a thread that runs `body` once.
    init(name: String, _ body: sending @escaping () -> Void) throws(LedgerError) {
        var all = sigset_t()
        var previous = sigset_t()
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &all, &previous)
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
            throw LedgerError(errno: code, doing: "start the thread \(name)")
        }
        self.thread = thread
    }

    /// Names the thread for those who look at it with top(1) or a debugger; the kernel keeps 15 bytes.
    private static func nameCurrentThread(_ name: String) {
        let descriptor = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let bytes = Array(name.utf8.prefix(15))
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        _ = close(descriptor)
    }

    /// Waits for the thread's end; at most once, and not after ``detach()``.
    func join() {
        _ = pthread_join(thread, nil)
    }

    /// Lets the thread end by itself.
    func detach() {
        _ = pthread_detach(thread)
    }
}
