// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

var strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
]
if Context.environment["CI"] == "true" {
    strict.append(.treatAllWarnings(as: .error))
}
// Not optimised, or the tests would take longer to compile than to run.
let tests = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]
// Set by `make run`, `make deb` and the container file, for `--version`. Not read from git here: SwiftPM keeps what a
// manifest has found, so that a later commit would get the name of an earlier one.
let commit = (Context.environment["DNP_COMMIT"] ?? "").filter {
    $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
}

let package = Package(
    name: "dnp-telemetry",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "dnp-telemetry", targets: ["dnp-telemetry"]),
        .library(name: "TelemetryEvents", targets: ["TelemetryEvents"]),
        .library(name: "PrefetchLifecycle", targets: ["PrefetchLifecycle"]),
        .library(name: "RefreshLifecycle", targets: ["RefreshLifecycle"]),
        .library(name: "MetricsRegistry", targets: ["MetricsRegistry"]),
        .library(name: "RuntimeMetrics", targets: ["RuntimeMetrics"]),
        .library(name: "EventLedger", targets: ["EventLedger"]),
        .library(name: "Journald", targets: ["Journald"]),
        .library(name: "LedgerState", targets: ["LedgerState"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CCacheLines"),
        .systemLibrary(name: "CCrypt"),
        .systemLibrary(name: "CHeap"),
        .systemLibrary(name: "CPriority"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CBuild", cSettings: commit.isEmpty ? [] : [.define("DNP_COMMIT", to: "\"\(commit)\"")]),
        .target(name: "CProgramPages"),
        .target(name: "CStartSignals"),

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
        .target(name: "RuntimeMetrics", dependencies: ["MetricsRegistry", "CHeap"], swiftSettings: strict),
        .target(
            name: "LifecycleMetrics",
            dependencies: [
                "LifecycleState", "MetricsRegistry", "PrefetchLifecycle", "RefreshLifecycle", "TelemetryEvents",
            ],
            swiftSettings: strict
        ),
        .target(name: "Gzip", dependencies: ["CZlib"], swiftSettings: strict),
        .target(
            name: "Hashing",
            dependencies: [.target(name: "COpenSSL", condition: .when(platforms: [.linux]))],
            swiftSettings: strict
        ),
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
        .target(name: "FleetSimulator", dependencies: ["TelemetryEvents"], swiftSettings: strict),
        .target(name: "SystemPrimitives", swiftSettings: strict),
        .target(
            name: "EventLedger",
            dependencies: [
                "SystemPrimitives",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "HTTPExchange",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Export",
            dependencies: [
                "CPriority", "HTTPExchange", "MetricsRegistry", "Gzip",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        .target(name: "Journald", dependencies: ["CSystemd", "SystemPrimitives"], swiftSettings: strict),
        .target(
            name: "CycleIndex",
            dependencies: [
                "TelemetryEvents", "LifecycleState", "PrefetchLifecycle", "RefreshLifecycle", "EventLedger",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "LedgerState",
            dependencies: [
                "TelemetryEvents", "CycleIndex", "LifecycleState", "PrefetchLifecycle", "RefreshLifecycle",
                "MetricsRegistry",
                "LifecycleMetrics", "EventLedger", "Journald", "Hashing", "TextOutput",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "LedgerTools",
            dependencies: [
                "TelemetryEvents", "CycleIndex", "PrefetchLifecycle", "RefreshLifecycle", "MetricsRegistry",
                "EventLedger",
                "Journald", "LedgerState",
                "LogInput", "TextOutput", "Hashing",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "PeerNames",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CollectorClient",
            dependencies: [
                "TelemetryEvents", "Gzip", "HTTPExchange", "LogInput", "TextOutput", "PeerNames", "Hashing",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConsoleAssets",
            path: "Sources/Collector/Console/Assets",
            exclude: ["biome.json"],
            resources: [.embedInCode("Files"), .embedInCode("Document")],
            swiftSettings: strict
        ),
        .target(
            name: "Collector",
            dependencies: [
                "TelemetryEvents", "ConsoleAssets", "CycleIndex", "LifecycleState", "LogValidation",
                "PrefetchLifecycle",
                "RefreshLifecycle", "MetricsRegistry", "RuntimeMetrics", "LifecycleMetrics",
                "EventLedger", "Export", "Journald", "LedgerState", "Gzip", "LogInput", "TextOutput", "PeerNames",
                "Hashing",
                "SystemPrimitives", "CCrypt", "CProgramPages", "CStartSignals",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["Console/Assets"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "dnp-telemetry",
            dependencies: [
                "CBuild", "CStartSignals", "Collector", "CollectorClient", "EventLedger", "FleetSimulator",
                "LedgerTools",
                "LifecycleMetrics", "LogInput", "LogValidation", "RuntimeMetrics", "TelemetryEvents", "TextOutput",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),

        .testTarget(
            name: "TelemetryEventsTests",
            dependencies: ["TelemetryEvents", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "PrefetchLifecycleTests",
            dependencies: ["PrefetchLifecycle", "TelemetryEvents", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "RefreshLifecycleTests",
            dependencies: ["RefreshLifecycle", "LifecycleState", "TelemetryEvents", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "MetricsRegistryTests",
            dependencies: ["MetricsRegistry", .product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: tests
        ),
        .testTarget(
            name: "RuntimeMetricsTests",
            dependencies: ["RuntimeMetrics", "MetricsRegistry"],
            swiftSettings: tests
        ),
        .testTarget(name: "HashingTests", dependencies: ["Hashing"], swiftSettings: tests),
        .testTarget(
            name: "EventLedgerTests",
            dependencies: [
                "EventLedger", "SystemPrimitives", .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: tests
        ),
        .executableTarget(
            name: "supervision-probe",
            dependencies: ["Journald"],
            path: "Tests/SupervisionProbe",
            swiftSettings: strict
        ),
        .testTarget(
            name: "JournaldTests",
            dependencies: ["Journald", "SystemPrimitives", "supervision-probe"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "LifecycleMetricsTests",
            dependencies: [
                "LifecycleMetrics", "EventLedger", "LedgerState", "MetricsRegistry", "PrefetchLifecycle",
                "TelemetryEvents", "CollectorTestSupport", "TestSupport",
            ],
            swiftSettings: tests
        ),
        .testTarget(name: "HTTPExchangeTests", dependencies: ["HTTPExchange"], swiftSettings: tests),
        .testTarget(
            name: "ExportTests",
            dependencies: ["Export", "MetricsRegistry", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(name: "GzipTests", dependencies: ["Gzip", "TestSupport"], swiftSettings: tests),
        .testTarget(name: "TextOutputTests", dependencies: ["TextOutput", "TestSupport"], swiftSettings: tests),
        .testTarget(
            name: "LogInputTests",
            dependencies: ["LogInput", "TelemetryEvents", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "LogValidationTests",
            dependencies: [
                "LogValidation", "LogInput", "PrefetchLifecycle", "RefreshLifecycle", "TelemetryEvents", "TextOutput",
                "TestSupport",
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "FleetSimulatorTests",
            dependencies: [
                "FleetSimulator", "Hashing", "LogInput", "LogValidation", "PrefetchLifecycle", "RefreshLifecycle",
                "TelemetryEvents", "TextOutput", "TestSupport",
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "CycleIndexTests",
            dependencies: [
                "CycleIndex", "EventLedger", "LifecycleState", "PrefetchLifecycle", "RefreshLifecycle",
                "TelemetryEvents",
                "TestSupport",
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "LedgerStateTests",
            dependencies: [
                "LedgerState", "EventLedger", "PrefetchLifecycle", "RefreshLifecycle", "TelemetryEvents",
                "CollectorTestSupport",
                "TestSupport",
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "LedgerToolsTests",
            dependencies: [
                "LedgerTools", "CycleIndex", "EventLedger", "LedgerState", "LogInput", "MetricsRegistry",
                "PrefetchLifecycle",
                "RefreshLifecycle",
                "TelemetryEvents", "TextOutput", "CollectorTestSupport", "TestSupport",
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "PeerNamesTests",
            dependencies: ["PeerNames", "TestSupport", .product(name: "NIOSSL", package: "swift-nio-ssl")],
            swiftSettings: tests
        ),
        .testTarget(
            name: "CollectorClientTests",
            dependencies: [
                "CollectorClient", "Gzip", "HTTPExchange", "LogInput", "TelemetryEvents", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: tests
        ),
        // A test target, since only those may import others as testable in a build for release.
        .testTarget(
            name: "CollectorTestSupport",
            dependencies: [
                "Collector", "CycleIndex", "EventLedger", "Journald", "LedgerState", "LifecycleMetrics",
                "MetricsRegistry",
                "PrefetchLifecycle", "RefreshLifecycle", "TelemetryEvents", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "CollectorTests",
            dependencies: [
                "CProgramPages", "Collector", "ConsoleAssets", "CycleIndex", "LifecycleState", "EventLedger", "Export",
                "Gzip",
                "Journald",
                "LedgerState", "LifecycleMetrics", "LogInput", "LogValidation", "MetricsRegistry",
                "PrefetchLifecycle", "RefreshLifecycle", "RuntimeMetrics", "TelemetryEvents", "TextOutput",
                "CollectorTestSupport",
                "TestSupport",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "FuzzingTests",
            dependencies: [
                "Collector", "CycleIndex", "EventLedger", "Gzip", "LedgerState", "LifecycleState", "PrefetchLifecycle",
                "RefreshLifecycle", "TelemetryEvents",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Fuzzing",
            exclude: [
                "Configuration.dict", "Corpus", "EventDecoder.dict", "HTTPRequests.dict", "LogLines.dict",
                "Sources/LibFuzzer", "run",
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Collector", "CycleIndex", "EventLedger", "FleetSimulator", "Journald", "LedgerState",
                "LifecycleMetrics", "MetricsRegistry", "PrefetchLifecycle", "RefreshLifecycle", "SystemPrimitives",
                "TelemetryEvents",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["seeds.txt"],
            // Optimised as the product is: the disk takes half of the time.
            swiftSettings: strict
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "TelemetryEvents",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "dnp-telemetry", "MetricsRegistry", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: tests
        ),
    ]
)
