// Boxes around what is to be seen.

/** @typedef {import("./game.js").Box} Box */

/**
 * Return the least box of the window's shape around an extent, no closer than life-size.
 * @param {Box} extent
 * @param {Box} window
 * @returns {Box}
 */
export function fitted(extent, window) {
  const scale = Math.max(extent.width / window.width, extent.height / window.height, 1);
  const [width, height] = [window.width * scale, window.height * scale];
  return {
    x: extent.x + (extent.width - width) / 2,
    y: extent.y + (extent.height - height) / 2,
    width,
    height,
  };
}
