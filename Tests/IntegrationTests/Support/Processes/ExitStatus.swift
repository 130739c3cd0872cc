// SPDX-License-Identifier: Apache-2.0

/// How a process ended.
enum ExitStatus: Equatable {
    case code(Int32)
    case signal(Int32)
}
