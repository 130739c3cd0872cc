// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector

struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the metrics that device logs or events come to.",
        discussion: """
            Runs logs or events through the same fold as the service and prints what only the fold decides, as a scrape \
            of the service would show it once every cycle is closed, in the Prometheus text format: the dnp_prefetch_* \
            families, dnp_telemetry_implied_stages_total and dnp_telemetry_evicted_cycles_total. Nothing is judged and \
            nothing is kept. Files may be compressed with gzip.

            EXAMPLES
              dnp-telemetry replay *.log
              dnp-telemetry replay --format json device.log | jq .dnp_prefetch_failure_total.NETWORK
              zcat archive/*.gz | dnp-telemetry replay - > /var/lib/node_exporter/textfile/dnp.prom

            EXIT STATUS
              0   printed
              2   an input cannot be read, or the output cannot be written
              64  wrong usage
            """
    )

    @Argument(
        help: ArgumentHelp("Files to replay together; - is standard input.", valueName: "file"),
        completion: .file()
    )
    var inputs: [String]

    @Option(help: "Form of the result: text (Prometheus) or json (the counters of validate).")
    var format = ResultFormat.text

    @OptionGroup(title: "Input")
    var reading: InputOptions

    func validate() throws {
        guard inputs.count(where: { $0 == "-" }) < 2 else {
            throw ValidationError("expected - once, since standard input can be read only once")
        }
    }

    func run() throws {
        var options = try reading.judgementOptions()
        options.detail = .counters
        let judgement = try reading.judge(inputs, options)
        try Terminal.print(format == .json ? judgement.countersJSON() : judgement.exposition())
        reading.hint(at: judgement, "validate --explain")
    }
}
