// The drawings in the games that are not a seat's cat: toys, animals, places, marks. `size` is the width and height in
// pixels.

import { s } from "../dom.js";
import { disc, drawing, INK, limb, line, mirrored, outlined, outlineWidth, placed, shape } from "./shapes.js";

/**
 * Draw a toy mouse.
 * @param {number} size
 * @param {string} [colour]
 */
export function mouse(size, colour = "#9aa2ad") {
  const width = outlineWidth(size);
  return drawing(
    size,
    line("M34 22C46 22 50 8 42 2Q36-4 40-12", "var(--cat-line)", width * 1.2),
    outlined("M-44 20C-38 0-18-16 8-16C30-16 40 2 38 24Q37 28 32 28H-36Q-46 28-44 20Z", colour, width),
    outlined("M-22-6C-26-22-12-32-2-24C6-17 2-4-8-1Q-18 0-22-6Z", colour, width),
    shape("M-17-8C-19-18-11-23-5-18C0-14-3-7-8-5Q-14-4-17-8Z", "#efa9a4"),
    disc(-26, 8, 3.6, INK),
    disc(-43, 18, 4.5, "#e0736f"),
  );
}

/**
 * Draw a ball of yarn.
 * @param {number} size
 * @param {string} [colour]
 */
export function ball(size, colour = "#d9577a") {
  const width = outlineWidth(size);
  return drawing(
    size,
    line("M10 36C28 46 40 40 46 32", "var(--cat-line)", 3.5 + 1.6 * width),
    line("M10 36C28 46 40 40 46 32", colour, 3.5),
    s("circle", { cx: -3, cy: -3, r: 40, fill: colour, stroke: "var(--cat-line)", "stroke-width": width }),
    line(
      "M-38-12C-22-32 8-38 24-28M-40 4C-22-20 14-30 32-18M-36 18C-16-8 18-14 36-4" +
        "M-8 36C-16 20-10 6 2-4M8 34C2 22 4 12 14 2M22 27C18 20 20 12 26 4",
      "#ffffff99",
      Math.max(3, width),
    ),
  );
}

/**
 * Draw a fish.
 * @param {number} size
 * @param {string} [colour]
 */
export function fish(size, colour = "#4aa3b8") {
  const width = outlineWidth(size);
  return drawing(
    size,
    outlined(
      "M-46 0C-34-24-2-30 18-8L40-24Q46-26 45-20L40 0L45 20Q46 26 40 24L18 8C-2 30-34 24-46 0Z",
      colour,
      width,
    ),
    line("M-18-14Q-10 0-18 14M2-10Q6 0 2 10", "#ffffffaa", Math.max(3, width)),
    disc(-30, -4, 5, "#ffffff"),
    disc(-30, -4, 2.8, INK),
  );
}

/**
 * Draw a water sprayer.
 * @param {number} size
 * @param {string} [colour]
 */
export function sprayer(size, colour = "#5b93d6") {
  const width = outlineWidth(size);
  return drawing(
    size,
    outlined("M2-16H22C24-2 38 4 38 18V40Q38 46 32 46H-6Q-12 46-12 40V18C-12 4 0-2 2-16Z", colour, width),
    shape("M-6 22H32V40H-6Z", "#ffffffcc"),
    line("M5 26L21 37M21 26L5 37", "#b3261e", 4),
    outlined(
      "M-14-38Q-14-42-10-42H20Q32-42 32-30V-22Q32-16 26-16H0V-26L-10-10-16-14-8-28H-14Z",
      "#c9402f",
      width,
    ),
    line("M-24-34L-42-38M-24-28H-46M-24-22L-40-15", "#3f8fd2", Math.max(4, width)),
  );
}

/**
 * Draw a crown.
 * @param {number} size
 * @param {string} [colour]
 */
export function crown(size, colour = "#f2bd3b") {
  const width = outlineWidth(size);
  return drawing(
    size,
    outlined(
      "M-34 30L-44-16Q-45-20-41-18L-20-2-3-34Q0-38 3-34L20-2 41-18Q45-20 44-16L34 30Q0 38-34 30Z",
      colour,
      width,
    ),
    line("M-32 20Q0 28 32 20", "#a8690f", Math.max(3, width)),
    disc(0, 6, 6, "#c9344c", 7),
    disc(-24, 8, 4, "#3f8fd2"),
    disc(24, 8, 4, "#3f8fd2"),
  );
}

/**
 * Draw the Princess: an elegant black cat with a crown and a bow.
 * @param {number} size
 */
export function princess(size) {
  const width = outlineWidth(size);
  const [black, edge, light] = ["#37323d", "#8a7f91", "#f3e9e2"];
  return drawing(
    size,
    limb("M16 42C42 48 48 24 36 12Q30 2 38-6", black, 9, width, edge),
    outlined("M-14-6C-22 10-28 26-26 40Q-25 47-16 47H14Q26 46 26 36C26 20 18 6 12-6Z", black, width, edge),
    line("M-4 30V46M-16 47Q-16 40-10 40M6 40Q0 40-2 46", edge, width * 0.8),
    outlined(
      "M-30-36C-27-36-18-30-14-26Q-1-29 12-26C16-30 25-36 28-36C31-34 31-22 31-16C34-8 32 0 27 5" +
        "C20 12 10 14-1 14C-12 14-22 12-29 5C-34 0-36-8-33-16C-33-22-33-34-30-36Z",
      black,
      width,
      edge,
    ),
    placed(
      -1,
      0,
      1,
      0,
      mirrored(() => [
        shape("M-27-30C-23-29-19-26-17-23C-22-22-26-17-28-13C-28-20-28-26-27-30Z", "#8a6a75"),
        line("M-20-7Q-13 1-6-7", light, width),
        line("M-20-6L-24-9", light, width * 0.8),
        disc(-20, 3, 4, "#6d4a55", 2.5),
      ]),
      shape("M-3-1Q0-3 3-1Q2 2 0 3Q-2 2-3-1Z", "#e07f86"),
      line("M-5 5Q-2 8 0 4Q2 8 5 5", light, width * 0.7),
    ),
    outlined("M-14-27L-18-44-8-37-1-48 6-37 16-44 12-27Q-1-31-14-27Z", "#f2bd3b", width * 0.8),
    mirrored(() => outlined("M1 17L-16 9Q-20 17-16 25Z", "#d94a78", width * 0.8)),
    disc(0, 17, 4, "#b52e5a"),
  );
}

/**
 * Draw a bird.
 * @param {number} size
 * @param {string} [colour]
 */
export function bird(size, colour = "#4d8fd6") {
  const width = outlineWidth(size);
  return drawing(
    size,
    line("M-4 30V44M8 30V44M-10 45H14", "#b06a1b", Math.max(3.5, width)),
    outlined("M18 6L46 18 44 26 14 24Z", colour, width),
    outlined("M-34-12C-34-34-4-38 4-18C8-8 24-2 26 10C26 26 10 34-4 34C-26 34-34 14-34-12Z", colour, width),
    shape("M-31 0C-22-2-8 4-6 18Q-6 28-10 32C-24 29-31 16-31 0Z", "#f6e3c8"),
    outlined("M-2 2C8-2 22 4 28 14C18 24 4 22 0 14Q-3 8-2 2Z", colour, width),
    outlined("M-34-18L-48-10-33-6Z", "#eea42f", width),
    disc(-19, -16, 5, "#ffffff"),
    disc(-20, -16, 3, INK),
  );
}

/**
 * Draw a dog's head.
 * @param {number} size
 * @param {string} [colour]
 */
export function dog(size, colour = "#b98352") {
  const width = outlineWidth(size);
  const ear = "#6f4628";
  return drawing(
    size,
    outlined(
      "M-26-34Q0-46 26-34C34-26 34-4 32 8C30 24 24 44 0 44C-24 44-30 24-32 8C-34-4-34-26-26-34Z",
      colour,
      width,
    ),
    shape(
      "M0-38C8-30 6-10 12 2C24 8 26 22 20 34Q12 43 0 43Q-12 43-20 34C-26 22-24 8-12 2C-6-10-8-30 0-38Z",
      "#f5e4cc",
    ),
    mirrored(() => [
      outlined("M-25-36C-40-38-48-20-46 0C-45 14-38 18-34 10C-30 0-30-18-20-30Z", ear, width),
      disc(-16, -8, 5.5, INK, 6.5),
      disc(-14, -10.5, 1.8, "#ffffff"),
    ]),
    shape("M-11 10Q0 4 11 10Q11 18 0 22Q-11 18-11 10Z", INK),
    outlined("M-6 30V38Q0 46 6 38V30Z", "#e0736f", width * 0.8),
    line("M-14 27Q-6 34 0 27Q6 34 14 27M0 21V27", INK, width),
  );
}

/**
 * Draw a paw print.
 * @param {number} size
 * @param {string} [colour]
 */
export function paw(size, colour = "currentColor") {
  return drawing(
    size,
    shape("M0-4C16-4 30 14 30 28C30 42 16 44 8 40Q0 37-8 40C-16 44-30 42-30 28C-30 14-16-4 0-4Z", colour),
    mirrored(() => [
      placed(-36, -4, 1, -24, disc(0, 0, 9.5, colour, 13)),
      placed(-15, -28, 1, -8, disc(0, 0, 10.5, colour, 15)),
    ]),
  );
}

/**
 * Draw a cat's house.
 * @param {number} size
 * @param {string} [colour]
 */
export function house(size, colour = "#e7c795") {
  const width = outlineWidth(size);
  return drawing(
    size,
    outlined("M-34-8H34V40Q34 45 29 45H-29Q-34 45-34 40Z", colour, width),
    outlined("M-3-43Q0-46 3-43L46-8Q47-2 42-2H-42Q-47-2-46-8Z", "#b8512f", width),
    outlined("M-17 45V24C-17 4 17 4 17 24V45Z", "#4b3428", width),
    mirrored(() => shape("M-11 24L-11 13-4 18Z", "#e9b94a")),
    disc(0, 24, 11, "#e9b94a", 8),
    mirrored(() => disc(-5, 24, 2.5, "#4b3428", 3)),
  );
}

/**
 * Draw a castle's tower for cats.
 * @param {number} size
 * @param {string} [colour]
 */
export function tower(size, colour = "#b9b3aa") {
  const width = outlineWidth(size);
  return drawing(
    size,
    outlined("M-24-18H24L28 46H-28Z", colour, width),
    outlined(
      "M-34-44Q-34-46-32-46H-20V-36H-8V-46H8V-36H20V-46H32Q34-46 34-44V-20Q34-16 30-16" +
        "H-30Q-34-16-34-20Z",
      colour,
      width,
    ),
    line("M-14-2H-6M10-4H18M-18 22H-10M10 14H17", "#0000004d", Math.max(3, width)),
    outlined("M-10 46V30C-10 18 10 18 10 30V46Z", "#4b3428", width),
    outlined("M-5 4C-5-6 5-6 5 4V8H-5Z", "#4b3428", width * 0.8),
  );
}

/**
 * Draw the Momistigri: a cross old cat, wrapped in striped rags.
 * @param {number} size
 */
export function momistigri(size) {
  const width = outlineWidth(size);
  const fur = "#6f6580";
  const wrap = "#efe4cb";
  return drawing(
    size,
    outlined("M-30-4C-40 14-42 32-42 47H42C42 32 40 14 30-4Z", "#7b2f4d", width),
    line("M-36 20Q0 32 36 20M-39 34Q0 46 39 34", "#e6b84a", 4),
    outlined(
      "M-38-40C-33-44-20-34-14-30Q0-33 14-30C20-34 33-44 38-40C41-34 39-16 38-8C42 4 38 14 30 20" +
        "C22 26 10 28 0 28C-10 28-22 26-30 20C-38 14-42 4-38-8C-39-16-41-34-38-40Z",
      fur,
      width,
    ),
    mirrored(() => shape("M-34-33C-28-33-23-28-20-25C-27-22-32-16-35-10C-36-20-36-28-34-33Z", "#b58a9c")),
    shape("M-37-11C-20-24 14-28 37-13L39-3C16-16-16-14-39-1Z", wrap),
    shape("M-39 6L-26 4-12 18-10 27C-24 26-36 20-39 6Z", wrap),
    line("M-30-13Q0-24 32-11M-32 10L-16 22", "#b9a67f", width * 0.7),
    mirrored(() => shape("M-28-4L-6 6Q-8 14-16 14Q-27 12-28-4Z", "#f4d03f")),
    mirrored(() => [disc(-15, 8, 2.6, INK, 5), line("M-29-6L-6 5", INK, width * 1.2)]),
    shape("M-4 12Q0 10 4 12Q3 15 0 17Q-3 15-4 12Z", "#e79a93"),
    line("M-10 24Q-4 18 0 20Q4 18 10 24", INK, width),
    shape("M-6 21L-3 20-4 26Z", "#ffffff"),
    size >= 40 && mirrored(() => line("M-24 16L-46 12M-24 20L-45 24", "var(--cat-line)", 1.4)),
    outlined("M-10 30L10 30 6 36 12 46H-12L-6 36Z", wrap, width * 0.8),
  );
}

/**
 * Draw an arrow that points up.
 * @param {number} size
 * @param {string} [colour]
 */
export function arrowUp(size, colour = "currentColor") {
  return drawing(size, arrow(colour));
}

/**
 * Draw an arrow that points down.
 * @param {number} size
 * @param {string} [colour]
 */
export function arrowDown(size, colour = "currentColor") {
  return drawing(size, placed(0, 0, 1, 180, arrow(colour)));
}

/** @param {string} colour */
function arrow(colour) {
  return shape(
    "M-4-42Q0-46 4-42L38-6Q41 0 34 2H16V38Q16 44 10 44H-10Q-16 44-16 38V2H-34Q-41 0-38-6Z",
    colour,
  );
}

/**
 * Draw a round wooden token, without its number.
 * @param {number} size
 * @param {string} [colour]
 */
export function token(size, colour = "var(--carton)") {
  const width = outlineWidth(size);
  return drawing(
    size,
    disc(0, 3, 46, "var(--wall)"),
    s("circle", { cx: 0, cy: -2, r: 45, fill: colour, stroke: "var(--cat-line)", "stroke-width": width }),
    s("circle", { cx: 0, cy: -2, r: 36, fill: "none", stroke: "#ffffff80", "stroke-width": width }),
  );
}

/**
 * Draw an open cardboard box.
 * @param {number} size
 * @param {string} [colour]
 */
export function cardboardBox(size, colour = "var(--carton)") {
  const width = outlineWidth(size);
  return drawing(
    size,
    shape("M-34-10H34V10H-34Z", "var(--wall)"),
    outlined("M-34-10L-26-30H26L34-10Z", "var(--wall)", width),
    mirrored(() => outlined("M-34-10L-26-30-44-34Q-48-34-48-30L-49-16Z", "var(--carton-2)", width)),
    outlined("M-36-10H36V38Q36 42 32 42H-32Q-36 42-36 38Z", colour, width),
    shape("M-6-9H6V8H-6Z", "var(--carton-2)"),
    placed(20, 28, 0.18, 0, paw(100, "var(--carton-2)")),
  );
}
