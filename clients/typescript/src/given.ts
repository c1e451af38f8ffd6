/** Return a value that the API guarantees. Throw an error if the value is absent. */
export function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) {
    throw new Error(`${what} is absent`);
  }
  return value;
}
