/**
 * Junction tables without a comment that links two tables (extension `reads`): records the comment they would
 * need, with free names.
 *
 * Only tables with nothing but links, each once: of others, callers may want the rest of the row.
 */
import { type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import type { CatalogTable } from '../../catalog/catalog.ts';
import { tableFix, validName } from '../comments/comment-fix.ts';
import { baseForm, isValidName, tableRootFields } from '../inflect.ts';
import type { Relationship, Table } from '../model.ts';
import { describeTable, hasExtension, type ModelContext, noteOmission, tablePath } from '../model-context.ts';
import { fieldsOf, type Linked, linkKeys } from './many-to-many.ts';
import { hasUniqueIndex } from './primary-key.ts';

/** The fields that the two tables would get. */
interface Proposal {
  readonly row: CatalogTable;
  readonly sides: readonly [from: Side, to: Side];
}

interface Side {
  readonly table: Table;
  readonly field: string;
  /** The default name is free. */
  readonly isDefault: boolean;
}

/** Records them all. The proposed names never collide. */
export function* noteUnlinked(context: ModelContext, linked: Linked): Sliced<void> {
  if (context.omissions === null) return;
  const taken = new Map<string, Set<string>>();
  for (const links of linked.tables.values()) {
    if (sliceIsOver()) yield;
    const proposal = propose(context, linked, links, (table) => {
      const fields = taken.get(table.oid) ?? new Set(fieldsOf(table, linked.routines));
      taken.set(table.oid, fields);
      return fields;
    });
    if (proposal !== null) noteProposal(context, proposal);
  }
}

function propose(
  context: ModelContext,
  { tables, relationships }: Linked,
  links: Table,
  takenOf: (table: Table) => Set<string>,
): Proposal | null {
  const directive = context.catalog.directive('table', links.oid);
  const isDecided = directive.kind === 'directive' && directive.value.many_to_many !== undefined;
  if (isDecided || !hasExtension(context, links, 'reads')) return null;
  const [from, to, ...others] = linkKeys(relationships, links);
  const row = context.catalog.table(links.oid)!;
  if (from === undefined || to === undefined || others.length > 0 || !holdsLinksAlone(row, [from, to])) return null;
  const sideOf = (near: Relationship, far: Relationship): Side => {
    const [table, target] = [tables.get(near.target)!, tables.get(far.target)!];
    const [own, fields] = [tableRootFields(target.baseName).collection, takenOf(table)];
    const others =
      table === target
        ? [`${own}By${baseForm(namesOf(row, columnsOf(far)).join('_'), true)}`]
        : [own, `${own}Through${baseForm(links.name, true)}`];
    const field = others.find((name) => isValidName(name) && !fields.has(name)) ?? validName(others.at(-1)!);
    fields.add(field);
    return { table, field, isDefault: field === own };
  };
  return { row, sides: [sideOf(from, to), sideOf(to, from)] };
}

/** Each pair is unique, and the other columns have defaults, such as a number or the time. */
function holdsLinksAlone(row: CatalogTable, keys: readonly Relationship[]): boolean {
  const columns = keys.flatMap(columnsOf);
  const isFilled = row
    .getAttributes()
    .every(
      ({ attnum, hasDefault, attidentity, attgenerated }) =>
        columns.includes(attnum) || hasDefault || attidentity || attgenerated,
    );
  return isFilled && hasUniqueIndex(row, columns) && !keys.some((key) => hasUniqueIndex(row, columnsOf(key)));
}

function columnsOf({ pairs }: Relationship): readonly number[] {
  return pairs.map(({ local }) => local);
}

function namesOf(row: CatalogTable, numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => row.getAttributes().find(({ attnum }) => attnum === number)?.attname ?? '');
}

function noteProposal(context: ModelContext, { row, sides }: Proposal): void {
  const [from, to] = sides;
  noteOmission(context, () => {
    const [near, far] = sides.map(({ table }) => tablePath(context, context.catalog.table(table.oid)!));
    const given = Object.fromEntries(
      Object.entries({ from, to }).flatMap(([key, { field, isDefault }]) => (isDefault ? [] : [[key, field]])),
    );
    return {
      kind: 'link',
      object: tablePath(context, row),
      names: sides.map(({ table, field }) => `${table.baseName}.${field}`),
      reason: `${describeTable(context, row)} links ${near} and ${far}. Its comment can give them collections of each other, "${from.field}" and "${to.field}".`,
      fix: tableFix(context, row, { many_to_many: Object.keys(given).length === 0 ? true : given }),
    };
  });
}
