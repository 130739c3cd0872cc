// SPDX-License-Identifier: Apache-2.0

/// A file of the console, compiled in, so that the program needs none beside it.
package struct ConsoleAsset: Sendable {
    /// The file's name, such as `console.js`.
    package let name: String
    /// What is in it.
    package let bytes: [UInt8]

    /// A file.
    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// The OpenAPI document, which is no file of the pages.
    package static var openAPI: [UInt8] { PackageResources.openapi_json }

    /// The files of `Files`; a test compares the list with the folder.
    package static var all: [ConsoleAsset] {
        [
            ConsoleAsset(name: "api.js", bytes: PackageResources.api_js),
            ConsoleAsset(name: "console.css", bytes: PackageResources.console_css),
            ConsoleAsset(name: "console.js", bytes: PackageResources.console_js),
            ConsoleAsset(name: "cycle.js", bytes: PackageResources.cycle_js),
            ConsoleAsset(name: "cycles.js", bytes: PackageResources.cycles_js),
            ConsoleAsset(name: "dom.js", bytes: PackageResources.dom_js),
            ConsoleAsset(name: "filters.js", bytes: PackageResources.filters_js),
            ConsoleAsset(name: "format.js", bytes: PackageResources.format_js),
            ConsoleAsset(name: "health.js", bytes: PackageResources.health_js),
            ConsoleAsset(name: "icon.svg", bytes: PackageResources.icon_svg),
            ConsoleAsset(name: "index.html", bytes: PackageResources.index_html),
            ConsoleAsset(name: "judge.js", bytes: PackageResources.judge_js),
            ConsoleAsset(name: "live.js", bytes: PackageResources.live_js),
            ConsoleAsset(name: "overview.js", bytes: PackageResources.overview_js),
            ConsoleAsset(name: "parts.js", bytes: PackageResources.parts_js),
            ConsoleAsset(name: "plots.js", bytes: PackageResources.plots_js),
            ConsoleAsset(name: "timeline.js", bytes: PackageResources.timeline_js),
        ]
    }
}
