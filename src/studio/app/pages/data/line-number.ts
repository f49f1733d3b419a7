/**
 * The next number of a new row that is numbered within the row it is written with: `lineNo` of the lines of an order.
 *
 * A number is given only where it is certain what is counted: the primary key is the foreign key to the new owner and
 * one more integer, which refers to nothing and is named as a number.
 */
import type { RoleTable, TableLink } from '../../shared/role-schema.ts';
import type { RowDraft } from './row-draft.ts';

/** A year or a product is no number of a line. */
const named = /(?:(?:^|_)(?:no|nr|num|number|pos|position|seq|line)|(?:No|Nr|Num|Number|Pos|Position|Seq|Line))$/;

/** What is given to the texts of a new row; nothing where it is not certain. @param others Written with the same owner. */
export function numberOf(table: RoleTable, owner: TableLink, others: readonly RowDraft[]): RowDraft['texts'] {
  const ofOwner = new Set(owner.pairs.map(({ foreign }) => foreign));
  const key = table.columns.filter(({ isKey }) => isKey);
  const own = key.filter(({ name }) => !ofOwner.has(name));
  const [column] = own;
  if (column === undefined || own.length > 1 || own.length + ofOwner.size !== key.length) return {};
  const { name, type, insert, hasDefault } = column;
  const refers = table.relationships.some(
    ({ isForeignKey, pairs }) => isForeignKey && pairs.some(({ local }) => local === name),
  );
  if (!/^(Int|BigInt)!?$/.test(type) || insert === null || hasDefault || refers || !named.test(name)) return {};
  const taken = others.map(({ texts }) => texts[name] ?? '');
  if (!taken.every((text) => /^\d{1,9}$/.test(text))) return {};
  return { [name]: String(Math.max(0, ...taken.map(Number)) + 1) };
}
