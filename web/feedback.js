// The feedback on touches and events of a game: sounds and vibration, if the player has chosen them.

import { isFelt, isHeard } from "./settings.js";

/**
 * A reason for feedback: a touch that picks something, a move, the player's turn, the end of a game, an emote.
 * @typedef {"touch" | "move" | "turn" | "end" | "emote"} Cue
 */

// The duration of the vibration, in milliseconds.
const TAP = 12;

/** Return true if the device may be able to vibrate. Computers have the function, too, but no touch screen. */
export function canVibrate() {
  return "vibrate" in navigator && navigator.maxTouchPoints > 0;
}

/**
 * Give feedback.
 * @param {Cue} cue
 */
export function give(cue) {
  if (cue === "touch" && isFelt() && canVibrate()) {
    navigator.vibrate(TAP);
  }
  if (isHeard()) {
    // Without the module, the game is silent.
    import("./sounds.js").then(({ play }) => play(cue)).catch(() => undefined);
  }
}
