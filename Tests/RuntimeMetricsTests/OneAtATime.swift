// SPDX-License-Identifier: Apache-2.0

import Testing

/// The suites that measure the process or contention, or run other programs: one test at a time, and not beside the
/// parallel ones (`swift test --skip OneAtATime`, then `swift test --no-parallel --filter OneAtATime`).
@Suite(.serialized)
enum OneAtATime {}
