// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

// inflateInit2 is a macro that Swift cannot import. 16 + 15: the gzip format (RFC 1952) with the largest window.
static inline int dnp_inflate_gzip_init(z_stream *stream) {
    return inflateInit2(stream, 16 + 15);
}

// deflateInit2 is one too. -15: deflate (RFC 1951) without header and checksum, with the largest window.
static inline int dnp_deflate_raw_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
}
