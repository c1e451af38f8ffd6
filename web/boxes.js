// Rectangles.

/** @typedef {import("./game.js").Box} Box */

/**
 * Return the middle of a rectangle.
 * @param {Box} box
 */
export function middleOf({ x, y, width, height }) {
  return { x: x + width / 2, y: y + height / 2 };
}

/**
 * Return the smallest box with the window's proportions that contains an extent. It is never smaller than the window.
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
