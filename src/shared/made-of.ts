/** What is made of a value that may be replaced: made when it is first needed, and again when another value is there. */

/** @param read Returns the present value; the same object as before means that nothing has changed. */
export function madeOf<From, Made>(read: () => From, make: (from: From) => Made): () => Made {
  let last: { readonly from: From; readonly made: Made } | null = null;
  return () => {
    const from = read();
    if (last === null || last.from !== from) last = { from, made: make(from) };
    return last.made;
  };
}
