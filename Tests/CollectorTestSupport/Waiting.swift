// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Testing

/// Waits until `condition` holds and records an issue when it doesn't within 30 s.
package func waitUntil(
    _ what: Comment,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) async rethrows {
    for _ in 0..<30_000 {
        if try condition() { return }
        _ = poll(nil, 0, 1)
        await Task.yield()
    }
    Issue.record(what, sourceLocation: sourceLocation)
}
