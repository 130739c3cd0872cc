// SPDX-License-Identifier: Apache-2.0

import Testing

/// The suites that start journald or another program, or exit in a process of their own: they run one at a time.
///
/// Every other suite of this target is pure and safe to run in parallel.
@Suite(.serialized)
enum OneAtATime {}
