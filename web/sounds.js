// Short sounds, which the browser synthesises.

/** @typedef {import("./feedback.js").Cue} Cue */
/**
 * A note: the kind of wave, the frequency in hertz at its beginning and at its end, its beginning and duration in
 * seconds.
 * @typedef {[wave: OscillatorType, from: number, to: number, begin: number, duration: number]} Note
 */

/** @type {Record<Cue, readonly Note[]>} */
const SOUNDS = {
  touch: [["triangle", 620, 420, 0, 0.06]],
  move: [
    ["triangle", 300, 170, 0, 0.1],
    ["sine", 900, 500, 0, 0.04],
  ],
  turn: [
    ["sine", 587, 587, 0, 0.18],
    ["sine", 880, 880, 0.12, 0.26],
  ],
  end: [
    ["sine", 523, 523, 0, 0.22],
    ["sine", 659, 659, 0.13, 0.22],
    ["sine", 784, 784, 0.26, 0.4],
  ],
  emote: [
    ["sine", 520, 760, 0, 0.12],
    ["sine", 760, 430, 0.1, 0.22],
  ],
};
const VOLUME = 0.16;
const SILENT = 0.001;
// The time within which the same sound is not repeated, in seconds.
const PAUSE = 0.08;

/** @type {AudioContext | undefined} */
let context;
let requests = 0;
/** @type {Map<Cue, number>} */
const last = new Map();

/**
 * Play a sound. Browsers allow no sounds before the player's first click or key press.
 * @param {Cue} cue
 */
export async function play(cue) {
  if (!navigator.userActivation.hasBeenActive) {
    return;
  }
  context ??= new AudioContext();
  const request = ++requests;
  if (context.state !== "running") {
    // Safari may wait for the next click here. Of all sounds requested until then, only the last one is heard.
    await context.resume();
    if (request !== requests) {
      return;
    }
  }
  const now = context.currentTime;
  if (now - (last.get(cue) ?? -PAUSE) >= PAUSE) {
    last.set(cue, now);
    for (const note of SOUNDS[cue]) {
      sound(context, now, note);
    }
  }
}

/**
 * @param {AudioContext} context
 * @param {number} now
 * @param {Note} note
 */
function sound(context, now, [wave, from, to, begin, duration]) {
  const [tone, volume] = [context.createOscillator(), context.createGain()];
  const [start, end] = [now + begin, now + begin + duration];
  tone.type = wave;
  tone.frequency.setValueAtTime(from, start);
  tone.frequency.exponentialRampToValueAtTime(to, end);
  volume.gain.setValueAtTime(VOLUME, start);
  volume.gain.exponentialRampToValueAtTime(SILENT, end);
  tone.connect(volume).connect(context.destination);
  tone.start(start);
  tone.stop(end);
}
