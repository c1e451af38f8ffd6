// The scale at which a drawing fits into a space. Sizes are in pixels.

/** @typedef {{width: number, height: number}} Size */

// The smallest size for which drawings are made.
const LEAST = { width: 320, height: 360 };
// The number of pixels that a drawing may be higher than the space.
const ROUNDING = 2;

/**
 * Return the size for which to make a drawing that is shown in a space.
 * @param {Size} space
 * @param {number} scale the scale at which the drawing is shown
 */
export function sizeAt({ width, height }, scale) {
  return { width: Math.max(LEAST.width, width / scale), height: Math.max(LEAST.height, height / scale) };
}

/**
 * Return the largest scale at which a whole drawing fits into a space, or else the scale at which the largest part
 * is visible.
 * @param {Size} space
 * @param {readonly number[]} scales in descending order
 * @param {(scale: number) => number} heightAt returns the height at which a scale shows the drawing
 */
export function fittingScale({ height }, scales, heightAt) {
  let [best, least] = [1, Infinity];
  for (const scale of scales) {
    const beyond = heightAt(scale) - height;
    if (beyond < least) {
      [best, least] = [scale, beyond];
    }
    if (beyond <= ROUNDING) {
      break;
    }
  }
  return best;
}
