// SPDX-License-Identifier: Apache-2.0
export const title = (path) => `${path === "/" ? "Overview" : path.slice(1)} - dnp-telemetry`;
