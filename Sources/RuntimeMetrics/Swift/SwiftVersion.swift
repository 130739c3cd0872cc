// SPDX-License-Identifier: Apache-2.0

enum SwiftVersion {
    /// The compiler's version, without its patch level, which only the toolchain's package tells.
    static var compiler: String {
        #if compiler(>=6.6)
            "6.6 or later"
        #elseif compiler(>=6.5)
            "6.5"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}
