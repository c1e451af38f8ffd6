// Feedback on touches and on events of a game, by sounds and vibration. The player chooses both in the settings.

import { isFelt, isHeard } from "./settings.js";

/**
 * A reason for feedback: a touch that picks something, a move, the player's turn, the end of a game, an emote.
 * @typedef {"touch" | "move" | "turn" | "end" | "emote"} Cue
 */

// The duration of the vibration, in milliseconds.
const TAP = 12;

/** Return true if the device may be able to vibrate. Computers without a touch screen also have `vibrate`. */
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
    // If the module cannot be loaded, the game is silent.
    import("./sounds.js").then(({ play }) => play(cue)).catch(() => undefined);
  }
}
