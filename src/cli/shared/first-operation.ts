/**
 * An operation that returns real rows, for the `curl` line of a start: an example's, or one made from a role's model.
 * Without any table, the statements that make one.
 */
import { quoteName } from '../../graphql/catalog/quote-name.ts';
import { tableRootFields } from '../../graphql/model/inflect.ts';
import type { Model, Table } from '../../graphql/model/model.ts';
import { quoteForShell } from '../../shared/quote-for-shell.ts';

/** The statements of a table whose rows a role may read. */
export function firstTable(role: string): readonly string[] {
  return [
    'create table note (id bigint generated always as identity primary key, body text);',
    'alter table note enable row level security;',
    'create policy everyone_reads on note for select using (true);',
    `grant select on note to ${quoteName(role)};`,
  ];
}

/** The document on one line, without comments. */
export function toOneLine(document: string): string {
  return document
    .split('\n')
    .map((line) => line.replace(/^\s*#.*$/, ''))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Three rows of the first table that has a collection: its first readable columns. Null for an empty model. */
export function makeFirstOperation(model: Model): string | null {
  for (const table of model.tables.values()) {
    const fields = scalarFields(table);
    if (table.rootField && fields.length > 0) {
      return `{ ${tableRootFields(table.baseName).collection}(first: 3) { edges { node { ${fields.join(' ')} } } } }`;
    }
  }
  return null;
}

function scalarFields(table: Table): readonly string[] {
  const columns = table.columns.filter(({ readable, type }) => readable && type?.kind !== 'list');
  return columns.flatMap(({ fieldName }) => (fieldName === null ? [] : [fieldName])).slice(0, 4);
}

/**
 * A `curl` line for a POSIX shell. `key` is put in double quotes: a key, or a variable such as `$PGREFLECT_ANON_KEY`.
 */
export function printCurl(url: string, key: string, operation: string): string {
  const body = quoteForShell(JSON.stringify({ query: operation }));
  return `curl -sS ${url} -H "apiKey: ${key}" -H 'Content-Type: application/json' -d ${body}`;
}
