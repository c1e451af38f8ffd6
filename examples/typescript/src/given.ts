/** Return a value that the API always sends. Throws if it is absent. */
export function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) {
    throw new Error(`${what} is absent`);
  }
  return value;
}

/** Return an element of a list. Throws if the list is shorter. */
export function at<T>(items: readonly T[], index: number): T {
  return given(items[index], `element ${index} of ${items.length}`);
}
