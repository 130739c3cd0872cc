// SPDX-License-Identifier: Apache-2.0
import { title } from "./format.js";

document.title = title(location.pathname);
