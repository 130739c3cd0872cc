// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "dnp-telemetry-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "dnp-telemetry", path: "..")],
    targets: [
        .target(name: "CAllocations"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CAllocations",
                .product(name: "TelemetryEvents", package: "dnp-telemetry"),
                .product(name: "PrefetchLifecycle", package: "dnp-telemetry"),
                .product(name: "RefreshLifecycle", package: "dnp-telemetry"),
                .product(name: "MetricsRegistry", package: "dnp-telemetry"),
                .product(name: "Journald", package: "dnp-telemetry"),
                .product(name: "LedgerState", package: "dnp-telemetry"),
                .product(name: "dnp-telemetry", package: "dnp-telemetry"),
            ],
            swiftSettings: strict
        ),
    ]
)
