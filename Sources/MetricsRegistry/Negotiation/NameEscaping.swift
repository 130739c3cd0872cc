// SPDX-License-Identifier: Apache-2.0

/// How a page shows metric and label names that are not `[a-zA-Z_:][a-zA-Z0-9_:]*`.
///
/// The raw value is what stands behind `escaping=` in Accept and Content-Type headers. The schemes are those of
/// Prometheus' content negotiation; a name of the old form is shown as it is in each of them.
public enum NameEscaping: String, Sendable, Hashable, CaseIterable {
    /// As they are, in quotes.
    case allowUTF8 = "allow-utf-8"
    /// Each other character as one underscore: `my.metric` is `my_metric`.
    case underscores
    /// Dots as `_dot_`, underscores doubled: `my.metric` is `my_dot_metric`. Reversible where only dots differ.
    case dots
    /// `U__` in front, each other character as its code point: `my.metric` is `U__my_2e_metric`. Reversible.
    case values
}
