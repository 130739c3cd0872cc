// SPDX-License-Identifier: Apache-2.0

/// What benchmarks need: paths, and the events that several of them send.
final class BenchmarkRoom {
    let options: Options
    private var preparedCycles: [PreparedRequest]?
    private var measuredClientGolang: ClientGolang?

    init(_ options: Options) {
        self.options = options
    }

    /// 1,000,000 events of 200,000 whole cycles in requests of 1,000, made once.
    var cycles: [PreparedRequest] {
        if let preparedCycles { return preparedCycles }
        let made = EventLines(count: 1_000_000, kind: .wholeCycles).requests(eventsPerRequest: 1_000)
        preparedCycles = made
        return made
    }

    /// What Prometheus' library for Go needs for the work of the registry's benchmarks, measured once.
    var clientGolang: ClientGolang {
        get throws {
            if let measuredClientGolang { return measuredClientGolang }
            let measured = try ClientGolang(in: self)
            measuredClientGolang = measured
            return measured
        }
    }

    /// A new directory below the work directory.
    func directory(_ name: String) throws -> String {
        try TemporaryDirectory.make(in: options.workDirectory, name: name)
    }
}
