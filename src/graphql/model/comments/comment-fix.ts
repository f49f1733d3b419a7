/** The `comment on` statements in advice. Made only here: they keep everything that a comment already contains. */
import { onOneLine } from '../../../shared/one-line.ts';
import { portableSql } from '../../../shared/portable-sql.ts';
import type { CatalogTable, CommentedObject } from '../../catalog/catalog.ts';
import { withDirective } from '../../catalog/comment-directive.ts';
import { quoteName, quotePath } from '../../catalog/quote-name.ts';
import type { TableKind } from '../model.ts';
import { type ModelContext, tableKind, tablePath } from '../model-context.ts';
import { routineName } from '../routines/routine-signature.ts';

/** Keys to add to a directive. */
export type Keys = Readonly<Record<string, unknown>>;

/** An object with a comment: its address in the catalog, and its SQL name after `comment on`. */
interface Commented {
  readonly address: readonly [kind: CommentedObject, oid: string, column?: number];
  readonly name: string;
}

/** @returns Without keys, the comment as it is. Null if changing the comment would lose something. */
function commentFix({ catalog }: ModelContext, { address, name }: Commented, keys: Keys): string | null {
  const now = catalog.comment(...address);
  const comment = Object.keys(keys).length === 0 ? now : withDirective(now, keys);
  return comment === null ? null : `comment on ${name} is ${quoteText(comment)};`;
}

/** A literal on one line, for any text. */
function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return onOneLine(text) === text ? portableSql(quoted) : `e${onOneLine(quoted.replaceAll('\\', '\\\\'))}`;
}

const kindsInSql = {
  table: 'table',
  partitioned_table: 'table',
  view: 'view',
  materialized_view: 'materialized view',
  foreign_table: 'foreign table',
} as const satisfies Record<TableKind, string>;

/** For a table or view. */
export function tableFix(context: ModelContext, row: CatalogTable, keys: Keys): string | null {
  const name = `${kindsInSql[tableKind(row)]} ${tablePath(context, row)}`;
  return commentFix(context, { address: ['table', row._id], name }, keys);
}

/** For a table or view that is meant as it is: `check` leaves out findings of this kind about it. */
export function ignoreFix(context: ModelContext, row: CatalogTable, check: string): string | null {
  const directive = context.catalog.directive('table', row._id);
  const ignored = directive.kind === 'directive' ? directive.value.ignore : undefined;
  return tableFix(context, row, { ignore: [...new Set([...(Array.isArray(ignored) ? ignored : []), check])] });
}

/** For a column, by its name. */
export function columnFix(context: ModelContext, row: CatalogTable, column: string, keys: Keys): string | null {
  const number = row.getAttributes().find(({ attname }) => attname === column)?.attnum ?? 0;
  const name = `column ${tablePath(context, row)}.${quoteName(column)}`;
  return commentFix(context, { address: ['column', row._id, number], name }, keys);
}

/** For an enum type. */
export function typeFix(
  context: ModelContext,
  { oid, namespace, name }: { readonly oid: string; readonly namespace: string; readonly name: string },
  keys: Keys,
): string | null {
  return commentFix(context, { address: ['type', oid], name: `type ${quotePath(namespace, name)}` }, keys);
}

/**
 * For a foreign key, declared or in the directive of its table.
 *
 * @param id As `Relationship.id`.
 * @param keys Of each foreign key, by its id: those of one directive are in one comment.
 */
export function foreignKeyFix(context: ModelContext, id: string, keys: ReadonlyMap<string, Keys>): string | null {
  const { catalog } = context;
  const [, table] = /^directive:(\d+):\d+$/.exec(id) ?? [];
  if (table !== undefined) {
    const [local, directive] = [catalog.table(table), catalog.directive('table', table)];
    if (local === undefined || directive.kind !== 'directive') return null;
    const entries = directive.value.foreign_keys as readonly object[];
    const changed = entries.map((entry, at) => ({ ...entry, ...keys.get(`directive:${table}:${at}`) }));
    return tableFix(context, local, { foreign_keys: changed });
  }
  const row = catalog.foreignKeys.find(({ _id }) => _id === id);
  const local = row && catalog.table(row.conrelid);
  if (row === undefined || local === undefined) return null;
  const name = `constraint ${quoteName(row.conname)} on ${tablePath(context, local)}`;
  return commentFix(context, { address: ['constraint', id], name }, keys.get(id) ?? {});
}

/** For a routine. */
export function routineFix(context: ModelContext, oid: string, keys: Keys): string | null {
  const row = context.catalog.routine(oid);
  if (row === undefined) return null;
  const name = `routine ${routineName(context.catalog, row)}`;
  return commentFix(context, { address: ['routine', oid], name }, keys);
}

/** For a schema. */
export function schemaFix(
  context: ModelContext,
  { oid, name }: { readonly oid: string; readonly name: string },
  keys: Keys,
): string | null {
  return commentFix(context, { address: ['namespace', oid], name: `schema ${quoteName(name)}` }, keys);
}

/** A similar name that GraphQL accepts. Letters of other scripts become their numbers, so that names stay different. */
export function validName(name: string): string {
  const latin = name
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '');
  const spelled = /[0-9A-Za-z]/.test(latin)
    ? latin
    : name.replaceAll(/[\p{L}\p{N}]/gu, (letter) => `u${letter.codePointAt(0)!.toString(16)}`);
  const plain = spelled.replaceAll(/[^_0-9A-Za-z]+/g, '_').replace(/^_+/, '');
  return /^[A-Za-z]/.test(plain) ? plain : `n_${plain}`;
}
