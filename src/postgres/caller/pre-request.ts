/**
 * The function that PostgREST calls before each request (`alter role authenticator set pgrst.db_pre_request`), called as
 * there: in the request's transaction, behind its settings, as its role. An error refuses the request.
 *
 * A function that changes who the caller is fails on purpose: the settings are made again before each main step, so the
 * change would not hold, and the request could do more than the function meant.
 */
import type { Caller } from './caller.ts';

/** Part of the text that fails on purpose if the function changed the role or the claims. */
export const preRequestSentinel = 'pgreflect:pre-request changed the caller';

/** The call of the function for a caller. @param call Its name with the namespace, both quoted. */
export function preRequestStep(call: string, { role, claims }: Caller): { text: string; values: readonly string[] } {
  return { text: textOf(call), values: [role, claims] };
}

/**
 * Materialized: called exactly once, and before the settings are looked at, because they need its row count. So does the
 * text that fails: a constant would be evaluated in any case.
 */
function textOf(call: string): string {
  return `with called as materialized (select ${call}())
select case when c.n operator(pg_catalog.>=) 0::pg_catalog.int8 and (
    pg_catalog.current_setting('role') operator(pg_catalog.<>) $1::pg_catalog.text
    or pg_catalog.current_setting('request.jwt.claims') operator(pg_catalog.<>) $2::pg_catalog.text)
  then ('${preRequestSentinel}'::pg_catalog.text operator(pg_catalog.||) c.n::pg_catalog.text)::pg_catalog.int4 end
from (select pg_catalog.count(*) as n from called) c`;
}
