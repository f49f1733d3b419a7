/**
 * How PostgreSQL's log names the trace of a request: as `application_name`, which `log_line_prefix` shows as `%a`. A comment
 * in the statement would make each one another statement, which is prepared anew.
 *
 * For the transaction alone, so that it works behind poolers. PostgreSQL reports no change that is over at its end.
 */

/** Sets it. */
export const setApplicationName = "select pg_catalog.num_nulls(pg_catalog.set_config('application_name', $1, true))";

/** The name. */
export function tracedName(traceId: string): string {
  return `pgreflect ${traceId}`;
}
