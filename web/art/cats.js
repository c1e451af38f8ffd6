// Cats in the coats of the six seats: faces, and cats that sit, sleep, perch, peek and fall. `size` is the width and
// height in pixels.

import {
  disc,
  drawing,
  flipped,
  INK,
  limb,
  line,
  mirrored,
  outlined,
  outlineWidth,
  placed,
  shape,
} from "./shapes.js";

/** @typedef {"calm" | "happy" | "sleepy" | "cross" | "startled"} Mood */
/** @typedef {import("./shapes.js").Child} Child */

/**
 * The colours of a coat. Optional parts that a coat does not have are absent.
 * @typedef {object} Coat
 * @property {string} base
 * @property {string} paw
 * @property {string} tail
 * @property {string} eyes
 * @property {string} ear the inside of the ears
 * @property {string} detail nose, mouth and closed eyes
 * @property {string} [muzzle]
 * @property {string} [stripes]
 * @property {string} [bib]
 * @property {string} [left] a patch on the left of the face
 * @property {string} [right] a patch on the right of the face
 * @property {string} [outline] an outline for dark coats, which keeps the limbs apart
 * @property {string} [mask]
 * @property {string} [rightDetail] replaces `detail` on the right, if that side of the face is dark
 */

const PINK = "#e79a93";

const OUTLINE = "var(--cat-line)";

/** @type {readonly Coat[]} */
const coats = [
  {
    base: "#f3a548",
    paw: "#fdecd2",
    tail: "#f3a548",
    eyes: "#5d8f3a",
    ear: PINK,
    detail: INK,
    muzzle: "#fdecd2",
    stripes: "#c4691c",
    bib: "#fdecd2",
  },
  {
    base: "#37323d",
    paw: "#ffffff",
    tail: "#37323d",
    eyes: "#e9c93f",
    ear: "#8a6a75",
    detail: "#f3e9e2",
    muzzle: "#ffffff",
    bib: "#ffffff",
    outline: "#8a7f91",
  },
  {
    base: "#fffaf2",
    paw: "#fffaf2",
    tail: "#9fa3ab",
    eyes: "#4d94c4",
    ear: "#f3bdb5",
    detail: INK,
    right: "#9fa3ab",
  },
  {
    base: "#828996",
    paw: "#828996",
    tail: "#828996",
    eyes: "#b5c94a",
    ear: "#c79a9c",
    detail: INK,
    stripes: "#3c424e",
  },
  {
    base: "#fffaf2",
    paw: "#fffaf2",
    tail: "#e58a2e",
    eyes: "#c3d36b",
    ear: PINK,
    detail: INK,
    left: "#e58a2e",
    right: "#40353a",
    rightDetail: "#f3e9e2",
  },
  {
    base: "#f1e2c6",
    paw: "#5d4336",
    tail: "#5d4336",
    eyes: "#6cb8f2",
    ear: "#8b6a5c",
    detail: "#f1e2c6",
    mask: "#5d4336",
  },
];

/** The number of coats. */
export const COATS = coats.length;

const HEAD =
  "M-37-45C-33-47-18-37-13-32Q0-35 13-32C18-37 33-47 37-45C41-43 43-20 43-8C48 4 47 17 41 25" +
  "C33 37 17 41 0 41C-17 41-33 37-41 25C-47 17-48 4-43-8C-43-20-41-43-37-45Z";
const EAR = "M-37-45C-33-47-18-37-13-32C-24-28-36-18-43-8C-43-20-41-43-37-45Z";
const EAR_INSIDE = "M-35-36C-30-35-24-31-20-28C-27-24-33-18-37-12C-37-20-37-30-35-36Z";
const SIDE =
  "M-37-45C-33-47-18-37-13-32Q-8-34-3-34C0-20-3 4-12 14C-22 25-36 26-41 25C-47 17-48 4-43-8" +
  "C-43-20-41-43-37-45Z";
const MASK =
  "M0-12C10-18 28-14 31 2C32 16 22 20 20 26C15 38 6 38 0 38C-6 38-15 38-20 26C-22 20-32 16-31 2" +
  "C-28-14-10-18 0-12Z";
const MUZZLE =
  "M0 10C8 10 10 17 17 19C25 22 24 34 15 38C6 41-6 41-15 38" + "C-24 34-25 22-17 19C-10 17-8 10 0 10Z";

/**
 * Draw a cat's head from the front.
 * @param {number} coat
 * @param {number} size
 * @param {Mood} [mood]
 */
export function catFace(coat, size, mood = "calm") {
  return drawing(size, placed(0, 2, 1, 0, head(coat, size, mood)));
}

/**
 * Draw a sitting cat, awake.
 * @param {number} coat
 * @param {number} size
 */
export function catSitting(coat, size) {
  const { paw, tail, bib, outline } = colours(coat);
  const width = outlineWidth(size);
  return drawing(
    size,
    limb("M22 42C44 46 46 30 38 22Q33 14 41 8", tail, 9, width, outline),
    body(
      "M-20-6C-27 8-30 24-28 38Q-27 47-16 47H16Q31 47 31 34C31 18 20 4 12-8Z",
      coat,
      width,
      [
        "M-25 18Q-18 17-14 21",
        "M-26 28Q-20 27-16 31",
        "M27 22Q20 21 15 25",
        "M28 32Q22 31 16 35",
        "M21 11Q16 11 12 15",
      ],
      "M12-8C20 4 31 18 31 34Q31 42 25 45C10 44 6 24 8 8Z",
      "M-22 0C-27 10-29 22-28 36C-18 36-10 22-12 4Z",
    ),
    bib && shape("M-16-2C-20 12-14 26-6 30C4 26 8 12 6-4Z", bib),
    outlined(
      "M-18 47Q-23 47-22 42Q-20 37-13 38Q-7 39-6 47Z M-4 47Q-5 39 1 38Q9 37 11 42Q12 47 7 47Z",
      paw,
      width * 0.8,
      outline,
    ),
    collar("M-20-3Q-4 10 12-4", coat, size),
    placed(-4, -22, 0.56, 0, head(coat, size * 0.56, "calm")),
  );
}

/**
 * Draw a curled-up cat, asleep or in another mood.
 * @param {number} coat
 * @param {number} size
 * @param {Mood} [mood]
 */
export function catCurled(coat, size, mood = "sleepy") {
  const { tail, outline } = colours(coat);
  const width = outlineWidth(size);
  return drawing(
    size,
    body(
      "M-45 20C-48-6-18-26 10-24C36-22 50-2 46 18C43 34 20 38 0 38C-24 38-43 36-45 20Z",
      coat,
      width,
      ["M3-21Q5-14 2-8", "M16-20Q18-12 14-5", "M28-15Q29-7 24-1", "M37-6Q36 1 31 6"],
      "M10-24C36-22 50-2 46 18Q30 24 18 10Q8-6 10-24Z",
      "M-18-17Q-6-24 6-24Q8-8-4-4Q-14-4-18-17Z",
    ),
    limb("M41 20C36 36 10 36-8 31", tail, 10, width, outline),
    collar("M-38 20Q-20 41 0 24", coat, size),
    placed(-19, 10, 0.5, -8, head(coat, size * 0.5, mood)),
  );
}

/**
 * Draw a cat that lies on a branch with its tail hanging down. The branch's upper edge is 0.16 of the size below the
 * middle.
 * @param {number} coat
 * @param {number} size
 */
export function catPerched(coat, size) {
  const { paw, tail, outline } = colours(coat);
  const width = outlineWidth(size);
  return drawing(
    size,
    limb("M37 8C46 18 32 28 36 38Q38 45 44 42", tail, 9, width, outline),
    body(
      "M-28 16C-34-2-22-16 2-16C28-16 44-6 43 8Q42 16 34 16Z",
      coat,
      width,
      ["M5-13Q7-8 4-2", "M16-12Q18-7 15-1", "M27-8Q28-4 25 2", "M36-1Q36 3 33 7"],
      "M8-16C28-16 44-6 43 8Q42 14 36 16C22 12 10 0 8-16Z",
      "M-8-15Q4-17 6-16Q8-2-2 2Q-10-2-8-15Z",
    ),
    limb("M-8 12V26", paw, 9, width, outline),
    limb("M-28 12V22", paw, 9, width, outline),
    collar("M-34 6Q-19 22-4 5", coat, size),
    placed(-20, -12, 0.54, -4, head(coat, size * 0.54, "calm")),
  );
}

/**
 * Draw a cat that looks over the edge of a box. The edge is 0.2 of the size below the middle.
 * @param {number} coat
 * @param {number} size
 */
export function catPeeking(coat, size) {
  const { paw } = colours(coat);
  const width = outlineWidth(size);
  return drawing(
    size,
    placed(0, -9, 0.86, 0, head(coat, size * 0.86, "calm")),
    outlined("M-47 20H47V42Q47 45 44 45H-44Q-47 45-47 42Z", "var(--carton)", width),
    line("M-30 36H30", "var(--carton-2)", width),
    mirrored(() => [
      outlined("M-35 18Q-35 13-27 13Q-19 13-19 18V25Q-19 30-27 30Q-35 30-35 25Z", paw, width),
      size >= 32 && line("M-30 24V29M-24 24V29", OUTLINE, width * 0.7),
    ]),
    placed(0, 40.5, 1, 0, collar("M-6 0H6", coat, size)),
  );
}

/**
 * Draw a falling cat with its legs spread.
 * @param {number} coat
 * @param {number} size
 */
export function catFalling(coat, size) {
  const { base, paw, tail, bib, outline } = colours(coat);
  const width = outlineWidth(size);
  const legs = ["M-14-4L-38-14", "M16-6L38-20", "M-12 24L-28 42", "M14 24L32 40"];
  const paws = ["M-34-12L-38-14", "M34-18L38-20", "M-25.4 38.8L-28 42", "M29 37L32 40"];
  return drawing(
    size,
    limb("M4 24C2 34 10 36 6 43", tail, 8, width, outline),
    legs.map((d) => limb(d, base, 10, width, outline)),
    paws.map((d) => line(d, paw, 10)),
    body(
      "M-17-8C-24 8-22 30 0 32C22 30 24 8 17-8Z",
      coat,
      width,
      ["M-20 8Q-12 8-9 11", "M-19 18Q-12 18-9 21", "M20 8Q12 8 9 11", "M19 18Q12 18 9 21"],
      "M4-8H17C24 8 22 26 6 31Q-4 14 4-8Z",
      "M-17-8C-22 4-22 12-19 22Q-8 16-8-2Z",
    ),
    bib && disc(0, 10, 9, bib, 15),
    collar("M-16-2Q0 10 16-2", coat, size),
    placed(0, -20, 0.54, 0, head(coat, size * 0.54, "startled")),
  );
}

/** @param {number} coat */
function colours(coat) {
  return /** @type {Coat} */ (coats[coat % COATS]);
}

/**
 * @param {string} d
 * @param {number} coat
 * @param {number} width
 * @param {readonly string[]} stripes
 * @param {string} right
 * @param {string} left
 */
function body(d, coat, width, stripes, right, left) {
  const colour = colours(coat);
  return [
    shape(d, colour.base),
    colour.right && shape(right, colour.right),
    colour.left && shape(left, colour.left),
    colour.stripes && stripes.map((stripe) => line(stripe, /** @type {string} */ (colour.stripes), 4.5)),
    outlined(d, "none", width, colour.outline),
  ];
}

/**
 * @param {string} d
 * @param {number} coat
 * @param {number} size
 */
function collar(d, coat, size) {
  const width = outlineWidth(size);
  return [line(d, INK, 5.5 + width), line(d, `var(--seat-${coat % COATS})`, 5.5)];
}

/**
 * @param {number} coat
 * @param {number} size
 * @param {Mood} mood
 * @returns {Child}
 */
function head(coat, size, mood) {
  const { base, ear, muzzle, stripes, left, right, mask, outline } = colours(coat);
  const width = outlineWidth(size);
  return [
    shape(HEAD, base),
    left && shape(SIDE, left),
    right && flipped(shape(SIDE, right)),
    mask && [mirrored(() => shape(EAR, mask)), shape(MASK, mask)],
    mirrored(() => shape(EAR_INSIDE, ear)),
    stripes && [
      line("M0-31V-17M-10-30L-8-20M10-30L8-20", stripes, 5),
      mirrored(() => line("M-42 4L-34 7M-42 16L-34 16", stripes, 5)),
    ],
    muzzle && shape(MUZZLE, muzzle),
    outlined(HEAD, "none", width, outline),
    eyes(coat, size, mood),
    shape("M-6 16Q0 13 6 16Q5 20 0 23Q-5 20-6 16Z", mask ? "#2f201b" : PINK),
    mouth(coat, size, mood),
    size >= 40 && mirrored(() => line("M-31 21L-49 17M-31 27L-48 29", OUTLINE, 1.4)),
  ];
}

/**
 * @param {number} coat
 * @param {number} size
 * @param {Mood} mood
 * @returns {Child}
 */
function eyes(coat, size, mood) {
  const { eyes: iris, detail, rightDetail = detail } = colours(coat);
  const width = outlineWidth(size) + 0.8;
  const closed = { happy: "M-27 8Q-18-5-9 8", sleepy: "M-27 3Q-18 12-9 3" }[/** @type {string} */ (mood)];
  if (closed) {
    return [line(closed, detail, width), flipped(line(closed, rightDetail, width))];
  }
  if (mood === "cross") {
    return [
      mirrored(() => [shape("M-28-2L-8 7Q-8 15-17 15Q-28 14-28-2Z", iris), disc(-16, 9, 4, INK, 5.5)]),
      line("M-29-4L-8 6", detail, width),
      flipped(line("M-29-4L-8 6", rightDetail, width)),
    ];
  }
  const wide = mood === "startled";
  return mirrored(() => [
    disc(-18, 4, wide ? 10.5 : 9, iris, wide ? 11.5 : 10),
    disc(-17.5, 4.5, wide ? 4 : 5.5, INK, wide ? 4.5 : 8.5),
    size >= 20 && disc(-15.5, 1, wide ? 1.5 : 2.2, "#ffffff"),
  ]);
}

/**
 * @param {number} coat
 * @param {number} size
 * @param {Mood} mood
 * @returns {Child}
 */
function mouth(coat, size, mood) {
  const { muzzle, detail } = colours(coat);
  const ink = muzzle ? INK : detail;
  if (mood === "startled") {
    return disc(0, 30, 4, ink, 5);
  }
  if (mood === "happy") {
    return [
      shape("M-8 26Q0 29 8 26Q7 36 0 36Q-7 36-8 26Z", "#c4504f"),
      line("M-11 25Q-5 30 0 24Q5 30 11 25", ink, outlineWidth(size)),
    ];
  }
  const d = mood === "cross" ? "M-8 31Q0 23 8 31" : "M-9 25Q-4 31 0 24Q4 31 9 25";
  return line(d, ink, outlineWidth(size) * 0.9);
}
