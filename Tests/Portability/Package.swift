// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// `validate`, `replay` and `report` without the service. Sources/ is made of links into the repository by `run`.

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
    name: "portability",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CCacheLines"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "TelemetryEvents", swiftSettings: strict),
        .target(name: "LifecycleState", dependencies: ["TelemetryEvents"], swiftSettings: strict),
        .target(
            name: "PrefetchLifecycle",
            dependencies: ["CCacheLines", "LifecycleState", "TelemetryEvents"],
            swiftSettings: strict
        ),
        .target(
            name: "RefreshLifecycle",
            dependencies: ["LifecycleState", "TelemetryEvents"],
            swiftSettings: strict
        ),
        .target(
            name: "MetricsRegistry",
            dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: strict
        ),
        .target(
            name: "LifecycleMetrics",
            dependencies: [
                "LifecycleState", "MetricsRegistry", "PrefetchLifecycle", "RefreshLifecycle", "TelemetryEvents",
            ],
            swiftSettings: strict
        ),
        .target(name: "Gzip", dependencies: ["CZlib"], swiftSettings: strict),
        .target(name: "TextOutput", dependencies: ["TelemetryEvents"], swiftSettings: strict),
        .target(name: "LogInput", dependencies: ["TelemetryEvents", "Gzip", "TextOutput"], swiftSettings: strict),
        .target(
            name: "LogValidation",
            dependencies: [
                "TelemetryEvents", "PrefetchLifecycle", "RefreshLifecycle", "MetricsRegistry", "LifecycleMetrics",
                "LogInput", "TextOutput",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "log-validation",
            dependencies: [
                "LifecycleMetrics", "LogInput", "LogValidation", "TelemetryEvents", "TextOutput",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
    ]
)
