/**
 * Finds the claim of a token that holds the database role. Whoever decides about roles reads it by this file, so that a
 * check and the requests it protects look at the same claim.
 */

/**
 * The role claim: a member with exactly that name, otherwise a path of names joined by dots; undefined if absent. Names
 * with dots, such as `https://hasura.io/jwt/claims`, are found as the longest that a member has.
 */
export function readRoleClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name] ?? undefined;
  let value: unknown = claims;
  let rest: readonly string[] = pathOf(name);
  while (rest.length > 0) {
    if (typeof value !== 'object' || value === null) return undefined;
    const length = longestName(value, rest);
    if (length === 0) return undefined;
    value = (value as Record<string, unknown>)[rest.slice(0, length).join('.')];
    rest = rest.slice(length);
  }
  return value ?? undefined;
}

/** How many names of the path are together that of a member; 0 if there is none. */
function longestName(value: object, path: readonly string[]): number {
  let length = path.length;
  while (length > 0 && !Object.hasOwn(value, path.slice(0, length).join('.'))) length--;
  return length;
}

/** Whether the claim is in metadata that users write themselves. */
export function isWrittenByUsers(name: string): boolean {
  return pathOf(name)[0] === 'user_metadata';
}

function pathOf(name: string): readonly string[] {
  return name.replace(/^\./, '').split('.');
}
