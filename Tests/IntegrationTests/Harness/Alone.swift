// SPDX-License-Identifier: Apache-2.0

import Testing

/// Suites that judge contention or short delays, or hold thousands of connections: `Tests/run` runs them one at a time
/// after all others, with nothing beside them.
@Suite(.serialized)
enum Alone {}

/// Suites that judge delays of seconds or stall a disk, and mostly wait: `Tests/run` runs two of them at a time, after
/// those that any load may delay.
@Suite(.serialized)
enum InPairs {}
