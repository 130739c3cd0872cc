// SPDX-License-Identifier: Apache-2.0
#include "CBuild.h"

#ifndef DNP_COMMIT
#define DNP_COMMIT ""
#endif

const char *build_commit(void) { return DNP_COMMIT; }
