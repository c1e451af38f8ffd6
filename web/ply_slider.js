// The slider that selects a ply of a record.

import { h } from "./dom.js";

/**
 * Create a slider from the first ply to the last ply.
 * @param {number} last
 * @param {string} label
 * @param {(ply: number) => void} onPly is called for each ply that the player selects
 */
export function plySlider(last, label, onPly) {
  const oninput = () => onPly(slider.valueAsNumber);
  const slider = h("input", { type: "range", min: 0, max: last, "aria-label": label, oninput });
  return slider;
}
