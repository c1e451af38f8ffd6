// The glow of items that can be picked, as SVG filters: WebKit does not apply CSS filters within an SVG.

import { s } from "./dom.js";

// The filters. For each state of an item, the list contains the reach of each of the filter's shadows, in pixels.
const GLOWS = { pickable: [3], pointed: [4], picked: [4, 2], hinted: [6, 3] };

/** Return the filters. The style sheet refers to them and sets their colours. */
export function glows() {
  const region = { x: "-50%", y: "-50%", width: "200%", height: "200%" };
  const filters = Object.entries(GLOWS).map(([name, shadows]) =>
    s(
      "filter",
      { id: `glow-${name}`, "color-interpolation-filters": "sRGB", ...region },
      shadows.map((stdDeviation) => s("feDropShadow", { dx: 0, dy: 0, stdDeviation })),
    ),
  );
  return s("svg", { class: "glows", width: 0, height: 0, "aria-hidden": "true" }, filters);
}
