/**
 * What PostgreSQL plans in place of a name: queries of views and conditions of policies, with all tables behind them, child
 * tables, and texts of functions in SQL. A short statement may so cost more than a long one (graphql/compile/sql/planning-weight.ts).
 */

/** Table, length of what is planned in its place, the tables named there (each as often), its child tables. */
export type PlannedTable = readonly [
  oid: string,
  characters: number,
  relations: readonly string[],
  children: readonly string[],
];

/** A function in SQL, and the beginning of its text. */
export type SqlRoutine = readonly [oid: string, name: string, text: string];

/** As sql/catalog.sql cuts it. */
const maxText = 20_000;

/** Measured: a character of a function's text becomes so many of a view's query. */
const charactersOfText = 40;

/** What stands in a list of tables, and some columns. Names in quotes count where they are words. */
const source = /(?:\b(?<sure>from|join)\b|,)\s*(?:(?:only|lateral)\s+)?(?:[\w"]+\.)?"?(?<name>\w+)?/gi;

/** A text whose tables are not read, but found by name. */
function plannedRoutine([oid, , text]: SqlRoutine, named: ReadonlyMap<string, string>): PlannedTable {
  if (text.length >= maxText) return [oid, Number.POSITIVE_INFINITY, [], []];
  const relations = [...text.matchAll(source)].flatMap(({ groups }) => {
    const found = named.get(groups?.name?.toLowerCase() ?? '');
    return found ?? (groups?.sure === undefined ? [] : '');
  });
  return [oid, text.length * charactersOfText, relations, []];
}

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

/** Finds the weight of a table or routine; 0 for most. @param names Tables that texts of functions may mean. */
export function planningWeights(
  rows: readonly PlannedTable[],
  routines: readonly SqlRoutine[],
  names: readonly (readonly [oid: string, name: string])[],
): (oid: string) => number {
  const tables = new Map(rows.map((row) => [row[0], row]));
  const texts = new Map(routines.map((routine) => [routine[0], routine]));
  const named = new Map([...routines, ...names].map(([oid, name]) => [name.toLowerCase(), oid]));
  const known = new Map<string, Size>();
  const sizeOf = (oid: string, depth: number): Size => {
    const found = known.get(oid);
    const text = texts.get(oid);
    const row = text === undefined ? tables.get(oid) : plannedRoutine(text, named);
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
