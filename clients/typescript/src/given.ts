/** Return a value that the API promises; throws if it is absent. */
export function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) {
    throw new Error(`${what} is absent`);
  }
  return value;
}
