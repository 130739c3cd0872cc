// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Synchronization

/// A registry with a settable clock and a log of its conflicts.
final class RegistryFixture: Sendable {
    /// 2023-11-14T22:13:20Z in microseconds.
    static let start: Int64 = 1_700_000_000_000_000

    let registry: MetricsRegistry
    private let log: ConflictLog
    private let clock: TestClock

    init(limits: RegistryLimits = .patient) {
        let log = ConflictLog()
        let clock = TestClock()
        self.log = log
        self.clock = clock
        registry = MetricsRegistry(now: { clock.now }, limits: limits) { log.add($0) }
    }

    var conflicts: [RegistrationConflict] { log.all }

    func setClock(_ microseconds: Int64) { clock.now = microseconds }

    /// The page without the registry's own metrics.
    func page(_ format: ExpositionFormat = .text004) -> String {
        let names = Set(registry.descriptors.map(\.name).filter { !$0.hasPrefix("metrics_registry_") })
        return text(registry.exposition(format, names: names))
    }

    /// The samples of the whole page: the text before each value, and the value.
    func samples() -> [String: String] {
        Self.samples(registry.exposition())
    }

    static func samples(_ page: [UInt8]) -> [String: String] {
        var samples: [String: String] = [:]
        for line in text(page).split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            samples[String(line[..<space])] = String(line[line.index(after: space)...])
        }
        return samples
    }
}

extension RegistryLimits {
    /// A page waits for its collectors as long as a busy machine may need to run them.
    static var patient: RegistryLimits {
        var limits = RegistryLimits()
        limits.collectionMilliseconds = 20_000
        return limits
    }
}

func text(_ page: [UInt8]) -> String {
    String(decoding: page, as: UTF8.self)
}

final class ConflictLog: Sendable {
    private let conflicts = Mutex<[RegistrationConflict]>([])
    var all: [RegistrationConflict] { conflicts.withLock { $0 } }
    func add(_ conflict: RegistrationConflict) { conflicts.withLock { $0.append(conflict) } }
}

final class TestClock: Sendable {
    private let microseconds = Mutex(RegistryFixture.start)
    var now: Int64 {
        get { microseconds.withLock { $0 } }
        set { microseconds.withLock { $0 = newValue } }
    }
}

enum Reason: String, CaseIterable, Sendable {
    case network = "NETWORK"
    case auth = "AUTH"
    case system = "SYSTEM"
    case other = "OTHER"
}

enum Verdict: String, CaseIterable, Sendable {
    case match
    case mismatch
}

/// A closed set of more than one byte, whose places are searched for.
enum Route: Hashable, CaseIterable, Sendable {
    case page(Int)
    case api

    static var allCases: [Route] { [.page(1), .page(2), .api] }

    var label: String {
        switch self {
        case .page(let number): "page-\(number)"
        case .api: "api"
        }
    }
}

/// A closed set with one member.
enum Lone: String, CaseIterable, Sendable {
    case only
}

/// A set whose `allCases` omits two cases, one of them between the others.
enum Partial: String, CaseIterable, Sendable {
    case first, hidden, second, last
    static var allCases: [Partial] { [.first, .second] }
}

/// A seeded random number generator (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
