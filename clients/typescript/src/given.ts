/** Return a value that the API guarantees; throw an error if it is absent. */
export function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) {
    throw new Error(`${what} is absent`);
  }
  return value;
}
