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

    /// The files of `Files`; a test compares the list with the folder.
    package static var all: [ConsoleAsset] {
        [
            ConsoleAsset(name: "index.html", bytes: PackageResources.index_html),
            ConsoleAsset(name: "console.css", bytes: PackageResources.console_css),
            ConsoleAsset(name: "console.js", bytes: PackageResources.console_js),
            ConsoleAsset(name: "format.js", bytes: PackageResources.format_js),
        ]
    }
}
