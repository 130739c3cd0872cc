// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

// inflateInit2 is a macro that Swift cannot import. 16 + 15: the gzip format (RFC 1952) with the largest window.
static inline int dnp_inflate_gzip_init(z_stream *stream) {
    return inflateInit2(stream, 16 + 15);
}
