// The scale at which a drawing fits into a space.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fittingScale, sizeAt } from "../../../web/scales.js";

const SPACE = { width: 800, height: 400 };
const SCALES = [1, 0.8, 0.5];

test("a drawing is made for the space at its scale, but not for a smaller size than the smallest", () => {
  assert.deepEqual(sizeAt(SPACE, 0.5), { width: 1600, height: 800 });
  assert.deepEqual(sizeAt(SPACE, 4), { width: 320, height: 360 });
});

test("the largest scale at which the whole drawing fits is chosen", () => {
  assert.equal(
    fittingScale(SPACE, SCALES, () => 400),
    1,
  );
  assert.equal(
    fittingScale(SPACE, SCALES, (scale) => 500 * scale),
    0.8,
  );
});

test("if no drawing fits, the one that is the least too high is chosen", () => {
  const heights = new Map([
    [1, 900],
    [0.8, 600],
    [0.5, 700],
  ]);
  assert.equal(
    fittingScale(SPACE, SCALES, (scale) => heights.get(scale)),
    0.8,
  );
});
