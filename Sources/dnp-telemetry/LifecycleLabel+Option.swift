// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
import LifecycleMetrics

extension LifecycleLabel: ExpressibleByArgument {
    static let help = ArgumentHelp(
        "A label that the metrics of the lifecycle get besides their own: platform or app_version; may be given twice.",
        valueName: "label"
    )
}
