// The glow of what can be picked: filters of SVG, as WebKit takes none of CSS's within a drawing.

import { s } from "./dom.js";

// By what they show: how far each of their shadows reaches.
const GLOWS = { pickable: [3], pointed: [4], picked: [4, 2], hinted: [6, 3] };

/** Return the filters, which the style of a drawing's items names, and which give them their colours. */
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
