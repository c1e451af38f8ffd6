// Repeats calls while the service is unavailable. The service stores no state, so that any call may be repeated.

// The first and the maximum pause between two attempts, in milliseconds. The pause doubles after each attempt.
const FIRST_PAUSE = 100;
const MAX_PAUSE = 1000;

/**
 * The way to repeat a call.
 * @typedef {object} Repetition
 * @property {(error: unknown) => number | undefined} pauseAfter returns the minimum pause that the service asks for in
 *   an error, in milliseconds, or 0 if it does not ask for one, or undefined if the error is final
 * @property {number} [attempts] the maximum number of attempts; absent for no limit
 * @property {number} [end] the time at which to give up, on the clock of `performance.now`; absent to never give up
 */

/**
 * Make a call until it succeeds. Throws its last error.
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
 * Return a pause in milliseconds. It is partly random, so that the clients of a service do not all return at the same
 * time.
 * @param {number} attempt the number of attempts made
 */
function usualPause(attempt) {
  return Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1)) * (0.8 + 0.4 * Math.random());
}
