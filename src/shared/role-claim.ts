/**
 * Finds the claim of a token that holds the database role. Whoever decides about roles reads it by this file, so that a
 * check and the requests it protects look at the same claim.
 */

/** The role claim: a member with exactly that name, otherwise a path of names joined by dots; undefined if absent. */
export function readRoleClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name] ?? undefined;
  let value: unknown = claims;
  for (const part of pathOf(name)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value ?? undefined;
}

/** Whether the claim is in metadata that users write themselves. */
export function isWrittenByUsers(name: string): boolean {
  return pathOf(name)[0] === 'user_metadata';
}

function pathOf(name: string): readonly string[] {
  return name.replace(/^\./, '').split('.');
}
