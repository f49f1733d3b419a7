/**
 * JSON text as a list of pieces: constants, and whatever stands for a value (answer-layout.ts).
 */

/** The same pieces with neighbouring constants joined and empty ones left out. */
export function joinConstants<T extends object>(pieces: readonly (T | string)[]): (T | string)[] {
  const joined: (T | string)[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece;
    else if (piece !== '') joined.push(piece);
  }
  return joined;
}

/** An object with these members, in order. A key is a GraphQL name, which needs no escapes. */
export function objectPieces<T extends object>(
  members: readonly { readonly key: string; readonly pieces: readonly (T | string)[] }[],
): (T | string)[] {
  return ['{', ...members.flatMap(({ key, pieces }, index) => [`${index === 0 ? '' : ','}"${key}":`, ...pieces]), '}'];
}
