// Calls that are repeated while the service is unavailable. Nothing is stored there, so that every call may be.

// The pause before another attempt, which doubles each time, and the longest; in milliseconds.
const FIRST_PAUSE = 100;
const MAX_PAUSE = 1000;

/**
 * How a call is repeated.
 * @typedef {object} Repetition
 * @property {(error: unknown) => number | undefined} pauseAfter  The fewest milliseconds that the service wants to be left alone
 *   after an error, 0 if it does not say; undefined: the error is final.
 * @property {number} [attempts]  How often the call is made at most; absent: as often as it takes.
 * @property {number} [end]  When to give up, as `performance.now` counts; absent: never.
 */

/**
 * Make a call until it works; throws its last error.
 * @template T
 * @param {() => Promise<T>} call
 * @param {Repetition} how
 * @returns {Promise<T>}
 */
export async function repeated(call, { pauseAfter, attempts = Infinity, end = Infinity }) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const asked = attempt < attempts ? pauseAfter(error) : undefined;
      const pause = Math.max(asked ?? 0, usualPause(attempt));
      if (asked === undefined || performance.now() + pause >= end) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/**
 * Return a pause; many clients of one service do not come back at the same time.
 * @param {number} attempt
 */
function usualPause(attempt) {
  return Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1)) * (0.8 + 0.4 * Math.random());
}
