// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

/// A thread of its own for a delivery, with all signals left to the process' other threads.
@safe
final class DeliveryThread: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    private let thread: pthread_t

    /// - Parameters:
    ///   - name: At most 15 bytes, as ps(1) shows it.
    ///   - run: Runs on the thread.
    init(name: StaticString, _ run: @escaping @Sendable () -> Void) throws(SystemError) {
        var blocked = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&blocked)
        for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { unsafe sigdelset(&blocked, signal) }
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        let body = unsafe Unmanaged.passRetained(
            Body {
                unsafe csystemd_name_thread(name.utf8Start)
                run()
            }
        )
        var made = pthread_t()
        let result = unsafe pthread_create(
            &made,
            nil,
            { argument in
                if let argument = unsafe argument {
                    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            },
            body.toOpaque()
        )
        guard result == 0 else {
            unsafe body.release()
            throw SystemError(code: result)
        }
        thread = made
    }

    /// Waits for the thread's end; on the thread itself lets it end by itself. To be called once.
    func join() {
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            _ = pthread_join(thread, nil)
        }
    }
}
