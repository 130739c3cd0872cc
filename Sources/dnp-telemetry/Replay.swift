// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LifecycleMetrics
import LogValidation

struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the metrics of device logs or events.",
        discussion: """
            Runs logs or events through the same fold as the service and prints what only the fold decides, as a scrape \
            of the service would show it once every cycle is closed, in the Prometheus text format: the families of \
            prefetches, notifications, content, integrity and errors, and what clients count themselves. Clock skew and \
            arrival lag need a receiver and are not there. Nothing is judged and nothing is kept. Files may be compressed \
            with gzip.

            EXAMPLES
              dnp-telemetry replay *.log
              dnp-telemetry replay --label platform --label app_version *.ndjson
              dnp-telemetry replay --format json device.log \\
                | jq .dnp_prefetch_failure_total.NETWORK
              zcat archive/*.gz | dnp-telemetry replay - \\
                > /var/lib/node_exporter/textfile/dnp.prom

            EXIT STATUS
              0   printed
              2   an input cannot be read, or the output cannot be written
              64  wrong usage
            """
    )

    @OptionGroup
    var inputs: InputFiles

    @Option(help: "Form of the result: text (Prometheus) or json (the counters of validate).")
    var format = ResultFormat.text

    @Option(name: .customLong("label"), help: LifecycleLabel.help)
    var labels: [LifecycleLabel] = []

    @OptionGroup(title: "Input")
    var reading: InputOptions

    func validate() throws {
        try inputs.checkNamed()
        guard labels.isEmpty || format == .text else {
            throw ValidationError("expected --label with --format text; the counters of --format json have no labels")
        }
    }

    func run() throws {
        var options = JudgementOptions(try reading.lineFormat())
        options.detail = .counters
        options.joins = inputs.join
        options.apps = inputs.apps
        let judgement = try reading.judge(inputs.paths, options)
        try Terminal.print(format == .json ? judgement.countersJSON() : judgement.exposition(labels: labels))
        reading.hint(at: judgement, "validate --explain")
    }
}

extension LifecycleLabel: ExpressibleByArgument {
    static let help = ArgumentHelp(
        "An additional label of the lifecycle metrics: platform or app_version; may be given twice.",
        valueName: "label"
    )
}
