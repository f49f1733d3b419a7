/**
 * What PostgreSQL plans in place of a table's name: queries of views and conditions of policies, with all tables behind them, and
 * child tables. A short statement may so cost more than a long one (graphql/compile/sql/planning-weight.ts).
 */

/** Table, length of what is planned in its place, the tables named there (each as often), its child tables. */
export type PlannedTable = readonly [
  oid: string,
  characters: number,
  relations: readonly string[],
  children: readonly string[],
];

/**
 * Units as those of a statement: about 100 bytes of the server process. Measured on PostgreSQL 18: 15 bytes for each character, 40 kB for
 * each table, 15 kB for each child, and twice as much for each 36 tables, because all orders of joins are tried.
 */
const unitsOfCharacter = 0.15;
const unitsOfTable = 400;
const unitsOfChild = 150;
const tablesThatDouble = 36;

/** However large a view is, an operation may use it five times: whoever made the view wants it read. */
const heaviest = 190_000;

/** PostgreSQL itself goes about as deep. */
const deepest = 100;

interface Size {
  readonly characters: number;
  readonly tables: number;
  readonly children: number;
}

const nothing: Size = { characters: 0, tables: 0, children: 0 };
const endless: Size = { characters: Number.POSITIVE_INFINITY, tables: 0, children: 0 };

/** Finds the weight of a table by its oid; 0 for most. */
export function planningWeights(rows: readonly PlannedTable[]): (oid: string) => number {
  const tables = new Map(rows.map((row) => [row[0], row]));
  const known = new Map<string, Size>();
  const sizeOf = (oid: string, depth: number): Size => {
    const found = known.get(oid);
    const row = tables.get(oid);
    if (found !== undefined || row === undefined) return found ?? nothing;
    if (depth > deepest) return endless;
    // Policies may ask each other; PostgreSQL then refuses the statement.
    known.set(oid, nothing);
    const [, characters, relations, children] = row;
    const parts = relations.map((each) => sizeOf(each, depth + 1));
    const below = children.map((each) => sizeOf(each, depth + 1));
    const size = {
      characters: parts.reduce((sum, each) => sum + each.characters, characters),
      tables: parts.reduce((sum, each) => sum + Math.max(1, each.tables), 0),
      children: [...parts, ...below].reduce((sum, each) => sum + each.children, children.length),
    };
    known.set(oid, size);
    return size;
  };
  return (oid) => {
    const { characters, tables: count, children } = sizeOf(oid, 0);
    const query = characters * unitsOfCharacter + count * unitsOfTable;
    return Math.min(heaviest, Math.ceil(query * (1 + count / tablesThatDouble) + children * unitsOfChild));
  };
}
