// SPDX-License-Identifier: Apache-2.0

import Testing

/// The suites that mount a file system, start a program or change SQLite for the whole process: they run one at a time.
///
/// Every other suite of this target is safe to run in parallel.
@Suite(.serialized)
enum OneAtATime {}
