// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A clock that a program of the test runs by: the machine's, some time ahead. What closes by the clock closes so without
/// anyone waiting for it.
struct LaterClock: Sendable {
    private let library: String

    /// Builds a library that is loaded in front of libc, with the toolchain's own compiler.
    init(seconds: Int, in directory: String) async throws {
        library = "\(directory)/later-\(seconds).so"
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <time.h>
            int clock_gettime(clockid_t clock, struct timespec *time) {
                int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
                int result = real(clock, time);
                if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += \(seconds);
                return result;
            }

            """
        let file = "\(directory)/later-\(seconds).c"
        try Data(source.utf8).write(to: URL(fileURLWithPath: file))
        let build = try await Command.run(
            ["/usr/bin/env", "clang", "-shared", "-fPIC", "-O1", "-o", library, file, "-ldl"]
        )
        guard build.status == .code(0) else {
            throw MissingDependency(description: "clang, which comes with Swift, builds no library: \(build.error)")
        }
    }

    var environment: [String: String] { ["LD_PRELOAD": library] }
}
