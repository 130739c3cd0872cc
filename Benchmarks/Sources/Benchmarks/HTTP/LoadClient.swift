// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Sends prepared requests over a few connections from one thread and waits for every answer.
struct LoadClient {
    /// What a load took.
    struct Result {
        /// From the first byte sent to the last answer.
        var seconds: Double
        /// CPU time of the client's process, and of the service.
        var clientCPU: Double
        var serviceCPU: Double
        var events: Int
    }

    let connections: Int

    /// Sends all of the requests; each must be answered 200 with all of its events accepted.
    func send(_ requests: [PreparedRequest], to service: ServiceProcess) throws -> Result {
        let lines = try (0..<connections).map { _ in try service.connect() }
        let serviceClock = try service.cpuClock
        let cpuBefore = serviceClock.seconds
        let watch = Stopwatch()
        var next = 0
        var answered = 0
        for line in lines where next < requests.count {
            try line.begin(requests[next])
            next += 1
        }
        while answered < requests.count {
            var interests = lines.map(\.interest)
            guard unsafe poll(&interests, nfds_t(interests.count), 60_000) > 0 else {
                throw BenchmarkFailure("no answer in a minute")
            }
            for (line, interest) in zip(lines, interests) where interest.revents != 0 {
                guard let answer = try line.proceed(interest.revents) else { continue }
                try check(answer, requests[0].events)
                answered += 1
                guard next < requests.count else { continue }
                try line.begin(requests[next])
                next += 1
            }
        }
        return Result(
            seconds: watch.seconds,
            clientCPU: watch.cpuSeconds,
            serviceCPU: serviceClock.seconds - cpuBefore,
            events: requests.reduce(0) { $0 + $1.events }
        )
    }

    private func check(_ answer: HTTPAnswer, _ events: Int) throws {
        guard answer.status == 200, answer.text.contains("\"accepted\":\(events),") else {
            throw BenchmarkFailure("answer \(answer.status): \(answer.text.prefix(500))")
        }
    }
}
