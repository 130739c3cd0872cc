// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("a setting that is alive")
    struct AliveSettings {
        @Test("changes what a running service does at the next reload", arguments: AliveSetting.all)
        func changes(setting: AliveSetting) async throws {
            guard setting.needsDisk else { return try await run(setting, in: nil) }
            try await MountNamespace.with { try await run(setting, in: $0) }
        }

        private func run(_ setting: AliveSetting, in namespace: MountNamespace?) async throws {
            try await withTemporaryDirectory { directory in
                let file = "\(directory)/config.yml"
                let write = { @Sendable (value: String) in
                    try Data("\(setting.name): \(value)\n\(setting.others)\n".utf8).write(
                        to: URL(fileURLWithPath: file)
                    )
                }
                try FileManager.default.createDirectory(
                    atPath: "\(directory)/tokens",
                    withIntermediateDirectories: false
                )
                try Data("0123456789abcdef".utf8).write(
                    to: URL(fileURLWithPath: "\(directory)/tokens/token-ios")
                )
                try write(setting.first)
                var disk: FreezableDisk?
                try await withService(
                    options: ["--config", file] + setting.options,
                    in: namespace,
                    prepare: { if let namespace { disk = try await FreezableDisk(at: $0, in: namespace) } }
                ) { service in
                    let scene = AliveSetting.Scene(
                        service: service,
                        client: await service.client,
                        directory: directory,
                        disk: disk
                    ) {
                        try write(setting.second)
                        await service.signal(SIGHUP)
                        try await eventually("the configuration was read anew") {
                            await service.log.contains("changed=\(setting.name)")
                        }
                    }
                    try await setting.show(scene)
                }
            }
        }

        @Test("is one of those that the README calls alive, and each of those is changed here")
        func all() {
            let root = Sample.directory.deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let readme = text(of: root.appendingPathComponent("docs/configuration.md").path)
            let alive = readme.split(separator: "\n").filter {
                $0.hasPrefix("| `") && $0.hasSuffix("| alive |")
            }
            .map { String($0.dropFirst(3).prefix { $0 != "`" }) }
            #expect(alive.sorted() == AliveSetting.all.map(\.name).sorted())
        }
    }
}
