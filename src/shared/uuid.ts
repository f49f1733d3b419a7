/** UUIDs: ids of users, sessions and factors. */

/** The `instance_id` of every row; Supabase Auth does not see rows with another one. */
export const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Whether a text is a UUID with its hyphens. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}
