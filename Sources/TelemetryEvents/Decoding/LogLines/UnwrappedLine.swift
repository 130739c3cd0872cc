// SPDX-License-Identifier: Apache-2.0

/// A line taken out of its wrapper. It is foreign when it has no component, no unknown marker and is no event.
///
/// The ranges are places in the bytes that were read, or in the scratch space where `isInScratch` says so.
struct UnwrappedLine: Equatable, Sendable {
    /// When the line says that it was written.
    var stamp: LogStamp?
    /// Which part of the plugin wrote it.
    var component: LogComponent?
    /// Whether it has a marker `[DNP-...]` whose name is none of the components.
    var hasUnknownMarker = false
    /// The name of the host or the device; empty where the wrapper has none.
    var device = 0..<0
    /// The process id; 0 where the wrapper has none.
    var process: UInt64 = 0
    /// The message without its marker and without white space around it; the object of an event.
    var text = 0..<0
    /// Whether `device` and `text` are in the scratch space: ANSI sequences were taken out, or JSON escapes resolved.
    var isInScratch = false
    /// Whether the text is a JSON event (SPEC 3.1).
    var isEvent = false

    /// Whether the plugin did not write it.
    var isForeign: Bool { component == nil && !hasUnknownMarker && !isEvent }
}
