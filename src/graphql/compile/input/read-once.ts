/** Reads a text of a request or document once for all its uses: a long text may be used very often. */

/** The reader, which takes the owner of the text: the variables of the request, or the node of the document. */
export function readOnce<Result>(read: (text: string) => Result): (owner: object, text: string) => Result {
  const results = new WeakMap<object, Map<string, Result>>();
  return (owner, text) => {
    const known = results.get(owner) ?? new Map<string, Result>();
    results.set(owner, known);
    if (!known.has(text)) known.set(text, read(text));
    return known.get(text)!;
  };
}
