/**
 * Whether a command may plan or run what users wrote: views, functions, policies. `set role` keeps no code in, which may reset
 * it. So only on a connection whose login has no more rights than that of a gateway (sql/gateway-login.sql).
 */
import type { Queryable } from '../postgres/system/queryable.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';

/** @param roles The API roles. @returns Its name; `reason`: the end of a sentence, null if it could be the gateway's. */
export async function readLogin(
  database: Queryable,
  roles: readonly string[],
): Promise<{ readonly login: string; readonly reason: string | null }> {
  const [row] = await database.query(loadSqlFile('gateway-login.sql'), [JSON.stringify({ roles })]);
  return row as unknown as { readonly login: string; readonly reason: string | null };
}

/**
 * Null if the login could be the gateway's, otherwise a sentence that says why it is not, and how to go on.
 *
 * @param what Is left out: "The plans".
 * @param roles The API roles.
 */
export async function whyNotGatewayLogin(
  database: Queryable,
  what: string,
  roles: readonly string[],
): Promise<string | null> {
  const { login, reason } = await readLogin(database, roles);
  if (reason === null) return null;
  return `${what} are left out: they run code of views, functions and policies, and the login "${login}" ${reason}. Connect as the gateway's login: --database-url postgresql://authenticator:PASSWORD@HOST/DATABASE.`;
}
