// SPDX-License-Identifier: Apache-2.0

import Testing

/// Suites that judge delays or contention, hold thousands of connections or stall a disk: `Tests/run` runs them one at a
/// time after all others, with nothing beside them.
@Suite(.serialized)
enum Alone {}
