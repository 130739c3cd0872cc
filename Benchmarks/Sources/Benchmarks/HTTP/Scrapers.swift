// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import Synchronization

/// Connections over which pages are asked for, each as soon as the one before has come, by a thread of their own.
final class Scrapers: Sendable {
    /// What they got.
    struct Result: Sendable {
        var pages = 0
        var bytes = 0
        var latencies: [Double] = []
        /// CPU time of the thread.
        var cpu = 0.0
    }

    private let stopping = Atomic(false)
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex(Swift.Result<Result, BenchmarkFailure>.success(Result()))

    init(_ count: Int, asking service: ServiceProcess) throws {
        nonisolated(unsafe) let connections = try (0..<count).map { _ in try service.connect() }
        Thread.detachNewThread {
            let found = Swift.Result { () throws(BenchmarkFailure) in try self.scrape(over: unsafe connections) }
            self.result.withLock { $0 = found }
            self.done.signal()
        }
    }

    /// Lets them end, and waits for it.
    func stop() throws -> Result {
        stopping.store(true, ordering: .relaxed)
        done.wait()
        return try result.withLock { $0 }.get()
    }

    private func scrape(over connections: [HTTPConnection]) throws(BenchmarkFailure) -> Result {
        do {
            return try ask(connections)
        } catch {
            throw error as? BenchmarkFailure ?? BenchmarkFailure("\(error)")
        }
    }

    private func ask(_ connections: [HTTPConnection]) throws -> Result {
        let request = PreparedRequest(get: "/metrics", headers: ["Accept-Encoding: gzip"])
        let cpu = Stopwatch.read(CLOCK_THREAD_CPUTIME_ID)
        var result = Result()
        var begun: [Double] = []
        for connection in connections {
            begun.append(Stopwatch.read(CLOCK_MONOTONIC))
            try connection.begin(request)
        }
        while !stopping.load(ordering: .relaxed) {
            var interests = connections.map(\.interest)
            guard unsafe poll(&interests, nfds_t(interests.count), 60_000) > 0 else {
                throw BenchmarkFailure("no page in a minute")
            }
            for (place, interest) in interests.enumerated() where interest.revents != 0 {
                guard let answer = try connections[place].proceed(interest.revents) else { continue }
                guard answer.status == 200 else { throw BenchmarkFailure("a scrape was answered \(answer.status)") }
                let now = Stopwatch.read(CLOCK_MONOTONIC)
                result.latencies.append(now - begun[place])
                result.pages += 1
                result.bytes += answer.body.count
                begun[place] = now
                try connections[place].begin(request)
            }
        }
        result.cpu = Stopwatch.read(CLOCK_THREAD_CPUTIME_ID) - cpu
        return result
    }
}
