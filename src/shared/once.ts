/** A value that is made when it is first asked for, and kept. */

/** @returns The value of the first call that did not throw, in every call. It may be undefined. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
