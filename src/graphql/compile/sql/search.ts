/** Prints text searches. The configuration may be a value: an index depends on the column alone. */
import type { SearchLanguage } from '../../schema/origin.ts';
import type { SearchPlan } from '../plan/search-plan.ts';
import { builtin, param, type Sql, sql } from './sql.ts';

const parsers = {
  websearch: (text) => sql`pg_catalog.websearch_to_tsquery(${text})`,
  plain: (text) => sql`pg_catalog.plainto_tsquery(${text})`,
  phrase: (text) => sql`pg_catalog.phraseto_tsquery(${text})`,
  query: (text) => sql`pg_catalog.to_tsquery(${text})`,
} satisfies Record<SearchLanguage, (text: Sql) => Sql>;

/** The search as a `tsquery`. */
export function printSearch({ by, slot, config }: SearchPlan): Sql {
  const text = param(slot, builtin.text);
  return parsers[by](config === null ? text : sql`${param(config, builtin.regconfig)}, ${text}`);
}
