// SPDX-License-Identifier: Apache-2.0
#ifndef CBUILD_H
#define CBUILD_H

/// The commit that the build was told in DNP_COMMIT; empty where it was told none.
const char *build_commit(void);

#endif
