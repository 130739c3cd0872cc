// SPDX-License-Identifier: Apache-2.0

import Testing

/// Everything that runs the real executable, one test at a time: each owns the machine's two cores while it runs.
@Suite(.serialized)
enum EndToEnd {}
