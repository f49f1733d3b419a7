/** Where the values of foreign keys lead to. */
import type { RoleTable, SchemaTable, TableLink } from '../../shared/role-schema.ts';
import type { CellLink } from './cell.tsx';
import { writeOperand } from './conditions.ts';
import { type Condition, type DataPlace, placeOfTable } from './data-place.ts';
import { joinKey, type Row } from './row-key.ts';

/** The row that a cell refers to; null if its column refers to none. @param tables All that the role sees. */
export function linkOf(
  { relationships }: RoleTable,
  tables: readonly SchemaTable[],
  row: Row,
  column: string,
  place: DataPlace,
): CellLink | null {
  const link = relationships.find(
    ({ isForeignKey, pairs }) => isForeignKey && pairs.some(({ local }) => local === column),
  );
  if (link === undefined || link.pairs.some(({ local }) => (row[local] ?? null) === null)) return null;
  const to = placeOfRelated(link, tables, row, place);
  return to === null ? null : { to, title: `${link.target} ${link.pairs.map(({ local }) => row[local]).join(', ')}` };
}

/** The related rows; null if the role does not see their table, or what they have in common. */
export function placeOfRelated(
  link: TableLink,
  tables: readonly SchemaTable[],
  row: Row,
  place: DataPlace,
): string | null {
  const filter = relatedConditions(link, tables, row);
  if (filter === null) return null;
  const { target, isList, pairs } = link;
  const keys = tables.find(({ name }) => name === target)!.fields.filter(({ isKey }) => isKey);
  const ofKey = keys.map(({ name }) => pairs.find(({ foreign }) => foreign === name));
  if (!isList && keys.length === pairs.length && ofKey.every((pair) => pair !== undefined)) {
    return placeOfTable(place, target, { row: joinKey(ofKey.map((pair) => row[pair!.local])) });
  }
  return placeOfTable(place, target, { filter });
}

/** The conditions that find the related rows; null as above. */
export function relatedConditions(
  { target, pairs }: TableLink,
  tables: readonly SchemaTable[],
  row: Row,
): readonly Condition[] | null {
  const fields = tables.find(({ name }) => name === target)?.fields ?? [];
  const filter = pairs.flatMap(({ local, foreign }) => {
    const field = fields.find(({ name }) => name === foreign);
    const value = row[local] ?? null;
    if (field === undefined || value === null) return [];
    return { path: foreign, operator: 'eq', value: writeOperand(String(value), field.type) };
  });
  return pairs.length > 0 && filter.length === pairs.length ? filter : null;
}
