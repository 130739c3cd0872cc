// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("the page and its table")
    struct DocumentedPage {
        @Test("have the same families of the same types")
        func documentedPage() async throws {
            var root = URL(fileURLWithPath: #filePath)
            while root.lastPathComponent != "Tests" { root.deleteLastPathComponent() }
            let readme = text(of: root.deletingLastPathComponent().appendingPathComponent("docs/metrics.md").path)
            let options = ["--follow", "/nowhere/app.log", "--follow-journal", "SYSLOG_IDENTIFIER=dnp-telemetry-test"]
            try await withService(journal: .journald, options: options) { service in
                let types = try await service.client.metrics().types
                #expect(types.count > 80)
                for (family, type) in types.sorted(by: { $0.key < $1.key }) {
                    #expect(readme.contains("\n| `\(family)` | \(type) |"), "\(family), a \(type)")
                }
            }
        }
    }
}
