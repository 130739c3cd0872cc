// SPDX-License-Identifier: Apache-2.0

import Testing

/// The suites that run programs, mount file systems, need a journal or judge time and contention: one test at a time,
/// and not beside the parallel ones (`swift test --skip OneAtATime`, then `swift test --no-parallel --filter OneAtATime`).
@Suite(.serialized)
enum OneAtATime {}
