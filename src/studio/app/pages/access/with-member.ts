/** The query of the page's address. */

/** With another value of a member; null: without it. */
export function withMember(query: URLSearchParams, name: 'q' | 'role' | 'view', value: string | null): URLSearchParams {
  const next = new URLSearchParams(query);
  if (value === null) next.delete(name);
  else next.set(name, value);
  return next;
}
