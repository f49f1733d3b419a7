/**
 * Proves which columns of a view are unique, from its query and its tables' keys. It never guesses, because paging by a
 * column that is not unique skips rows.
 *
 * The proof: one table, the base, is joined so that each of its rows meets at most one row of every other table,
 * because all columns of a key of that table equal constants or columns of determined tables. A key of the base is then
 * a key of the view, if the view contains its columns. A grouped view is unique by its grouping columns.
 */
import { isNode, nodesOf, readNodeTree, type TreeNode, type TreeValue } from '../../catalog/node-tree.ts';

/** Column numbers of a relation, with the operator family and collation in which they are unique. */
interface Key {
  readonly columns: readonly number[];
  readonly families: readonly string[];
  readonly collations: readonly string[];
}

/** A row of sql/check/views.sql. */
export interface ViewFacts {
  readonly relations: readonly {
    readonly oid: string;
    readonly path: string;
    readonly query: string | null;
    readonly columns: Readonly<Record<string, string>>;
    readonly notNull: readonly number[];
    readonly keys: readonly Key[];
  }[];
  readonly equalities: readonly (readonly [operator: string, family: string])[];
}

/** A proven key of a view, or the columns that the view would need for one. */
export interface ViewKey {
  /** Columns of the shortest proven key; null if none is proven. */
  readonly columns: readonly string[] | null;
  /** Columns of a table's key that the view lacks; null if other columns would prove nothing. */
  readonly lacks: { readonly table: string; readonly columns: readonly string[] } | null;
}

/** What is known of a view's key. */
export function provenKey(facts: ViewFacts, oid: string): ViewKey {
  const prover = new Prover(facts);
  const [shortest] = prover.keysOfRelation(oid).toSorted((a, b) => a.columns.length - b.columns.length);
  const nameIn = (relation: string, number: number) =>
    facts.relations.find((each) => each.oid === relation)?.columns[number] ?? '';
  if (shortest === undefined) {
    const [fewest] = prover.lackedBy(oid).toSorted((a, b) => a.columns.length - b.columns.length);
    if (fewest === undefined) return { columns: null, lacks: null };
    const table = facts.relations.find((each) => each.oid === fewest.relation)?.path ?? '';
    return {
      columns: null,
      lacks: { table, columns: fewest.columns.map((number) => nameIn(fewest.relation, number)) },
    };
  }
  // A view of a single row has a key without columns, which directives cannot express.
  if (shortest.columns.length === 0) return { columns: null, lacks: null };
  return { columns: shortest.columns.map((number) => nameIn(oid, number)), lacks: null };
}

/** A column of a query's table: the position of the table, from 1, and the column number. */
type Operand = 'constant' | `${string}.${string}` | null;

/**
 * Two operands that are equal in every row; with a scope, only in rows where the scope's tables are not filled with
 * nulls by an outer join.
 */
interface Equality {
  readonly sides: readonly [Operand, Operand];
  readonly operator: string;
  readonly collation: string;
  readonly scope: ReadonlySet<string> | null;
  /** Both sides are compared in their own types. */
  readonly isExact: boolean;
}

/** The tables of a query, and their joins. */
class Joins {
  readonly tables = new Set<string>();
  readonly nullable = new Set<string>();
  readonly equalities: Equality[] = [];
  isFull = false;
}

class Prover {
  readonly #relations: ReadonlyMap<string, ViewFacts['relations'][number]>;
  readonly #families: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #known = new Map<string, readonly Key[]>();

  constructor({ relations, equalities }: ViewFacts) {
    this.#relations = new Map(relations.map((relation) => [relation.oid, relation]));
    const families = new Map<string, Set<string>>();
    for (const [operator, family] of equalities) {
      families.set(operator, (families.get(operator) ?? new Set()).add(family));
    }
    this.#families = families;
  }

  keysOfRelation(oid: string): readonly Key[] {
    const known = this.#known.get(oid);
    if (known !== undefined) return known;
    const relation = this.#relations.get(oid);
    const [query] = relation?.query ? nodesOf(readNodeTree(relation.query)) : [];
    const keys = [...(relation?.keys ?? []), ...(query === undefined ? [] : this.#keysOfQuery(query))];
    this.#known.set(oid, keys);
    return keys;
  }

  /** Columns of keys of tables that decide the rows of a view, as far as the view does not return them. */
  lackedBy(oid: string): readonly { readonly relation: string; readonly columns: readonly number[] }[] {
    const [query] = nodesOf(readNodeTree(this.#relations.get(oid)?.query ?? '()'));
    const joins = query === undefined ? null : joinsOf(query);
    if (query === undefined || joins === null || nodesOf(query.groupClause).length > 0) return [];
    return [...joins.tables].flatMap((base) => {
      const entry = nodesOf(query.rtable)[Number(base) - 1];
      if (entry?.rtekind !== '0') return [];
      return this.#keysOfBase(query, joins, base).map((key) => ({
        relation: String(entry.relid),
        columns: key.source.filter((_, index) => key.columns[index] === 0),
      }));
    });
  }

  /** By the column numbers of the query's result. */
  #keysOfQuery(query: TreeNode): readonly Key[] {
    const joins = joinsOf(query);
    if (joins === null) return [];
    if (nodesOf(query.groupClause).length > 0) return this.#keysOfGroups(query, joins);
    if (query.hasAggs === 'true') return [{ columns: [], families: [], collations: [] }];
    return [...joins.tables].flatMap((base) =>
      this.#keysOfBase(query, joins, base).filter(({ columns }) => !columns.includes(0)),
    );
  }

  /** The groups of a query differ in the grouping columns. */
  #keysOfGroups(query: TreeNode, joins: Joins): readonly Key[] {
    const targets = nodesOf(query.targetList).filter(({ resjunk }) => resjunk !== 'true');
    const key: { column: number; family: string; collation: string }[] = [];
    for (const { tleSortGroupRef, eqop } of nodesOf(query.groupClause)) {
      const target = targets.find(({ ressortgroupref }) => ressortgroupref === tleSortGroupRef);
      const [family] = this.#families.get(String(eqop)) ?? [];
      if (target === undefined || family === undefined || !this.#isNeverNull(query, joins, target.expr)) return [];
      if (operandOf(query, target.expr, 'exact') === null) return [];
      key.push({ column: Number(target.resno), family, collation: String((target.expr as TreeNode).varcollid ?? '0') });
    }
    const columns = key.map(({ column }) => column);
    return [{ columns, families: key.map(({ family }) => family), collations: key.map(({ collation }) => collation) }];
  }

  #isNeverNull(query: TreeNode, joins: Joins, expression: TreeValue | undefined): boolean {
    const operand = operandOf(query, expression);
    if (operand === null || operand === 'constant') return false;
    const [table, column] = operand.split('.') as [string, string];
    const { relid } = nodesOf(query.rtable)[Number(table) - 1] ?? {};
    return !joins.nullable.has(table) && this.#relations.get(String(relid))?.notNull.includes(Number(column)) === true;
  }

  /** Column 0 stands for one that the query does not return. `source` has the column numbers of the base. */
  #keysOfBase(query: TreeNode, joins: Joins, base: string): readonly (Key & { readonly source: readonly number[] })[] {
    const entry = nodesOf(query.rtable)[Number(base) - 1];
    if (entry === undefined || joins.nullable.has(base) || entry.lateral === 'true') return [];
    const keys = this.#keysOfEntry(query, entry);
    if (keys.length === 0 || !this.#determinesAll(query, joins, base)) return [];
    return keys.map((key) => {
      const columns = key.columns.map((column, index) =>
        this.#outputOf(query, joins, `${base}.${column}`, key.families[index]!),
      );
      return { ...key, columns, source: key.columns };
    });
  }

  #keysOfEntry(query: TreeNode, entry: TreeNode): readonly Key[] {
    switch (entry.rtekind) {
      case '0':
        return this.keysOfRelation(String(entry.relid));
      case '1':
        return isNode(entry.subquery) ? this.#keysOfQuery(entry.subquery) : [];
      case '6': {
        const part = nodesOf(query.cteList).find(({ ctename }) => ctename === entry.ctename);
        const isPlain = part?.cterecursive === 'false' && entry.ctelevelsup === '0' && isNode(part.ctequery);
        return isPlain ? this.#keysOfQuery(part.ctequery as TreeNode) : [];
      }
      default:
        return [];
    }
  }

  /** Whether a row of the base meets at most one row of each other table. */
  #determinesAll(query: TreeNode, joins: Joins, base: string): boolean {
    const determined = new Set([base]);
    for (;;) {
      const next = [...joins.tables].find(
        (table) => !determined.has(table) && this.#isDetermined(query, joins, table, determined),
      );
      if (next === undefined) return determined.size === joins.tables.size;
      determined.add(next);
    }
  }

  #isDetermined(query: TreeNode, joins: Joins, table: string, by: ReadonlySet<string>): boolean {
    const entry = nodesOf(query.rtable)[Number(table) - 1];
    return (
      entry !== undefined &&
      this.#keysOfEntry(query, entry).some(({ columns, families, collations }) =>
        columns.every((column, index) =>
          joins.equalities.some(({ sides, operator, collation, scope }) => {
            const at = sides.indexOf(`${table}.${column}`);
            const other = sides[1 - at];
            return (
              at >= 0 &&
              (scope === null || scope.has(table)) &&
              (other === 'constant' || by.has(other?.split('.')[0] ?? '')) &&
              this.#families.get(operator)?.has(families[index]!) === true &&
              (collations[index] === '0' || collations[index] === collation)
            );
          }),
        ),
      )
    );
  }

  /** Number of the column that returns this operand or an equal one; 0 for none. */
  #outputOf(query: TreeNode, joins: Joins, operand: Operand, family: string): number {
    const equal = new Set([operand]);
    for (let size = 0; size < equal.size; ) {
      size = equal.size;
      for (const { sides, operator, scope, isExact } of joins.equalities) {
        if (scope !== null || !isExact || this.#families.get(operator)?.has(family) !== true) continue;
        if (sides.some((side) => equal.has(side))) for (const side of sides) equal.add(side);
      }
    }
    const targets = nodesOf(query.targetList).filter(({ resjunk }) => resjunk !== 'true');
    const target = targets.find(({ expr }) => {
      const returned = operandOf(query, expr, 'exact');
      return returned !== null && equal.has(returned);
    });
    return Number(target?.resno ?? 0);
  }
}

/** The joins of a query whose rows come from tables; null if they come from sets, or are left out of the proof. */
function joinsOf(query: TreeNode): Joins | null {
  if (query.commandType !== '1' || isNode(query.setOperations) || query.hasTargetSRFs === 'true') return null;
  if (nodesOf(query.groupingSets).length > 0) return null;
  const joins = new Joins();
  if (isNode(query.jointree)) walkJoins(query, query.jointree, null, joins);
  return joins.isFull ? null : joins;
}

/** @returns The tables below the node. */
function walkJoins(
  query: TreeNode,
  node: TreeNode,
  scope: ReadonlySet<string> | null,
  joins: Joins,
): ReadonlySet<string> {
  if (node[''] === 'RANGETBLREF') {
    joins.tables.add(String(node.rtindex));
    return new Set([String(node.rtindex)]);
  }
  const below = new Set<string>();
  const walk = (part: TreeValue | undefined, isNullable: boolean): Set<string> => {
    const own = new Set<string>();
    const tables = isNode(part) ? walkJoins(query, part, isNullable ? own : scope, joins) : [];
    for (const table of tables) {
      own.add(table);
      below.add(table);
      if (isNullable) joins.nullable.add(table);
    }
    return own;
  };
  if (node[''] === 'FROMEXPR') {
    for (const part of nodesOf(node.fromlist)) walk(part, false);
    collectEqualities(query, node.quals, scope, joins);
  } else if (node[''] === 'JOINEXPR' && node.jointype === '0') {
    walk(node.larg, false);
    walk(node.rarg, false);
    collectEqualities(query, node.quals, scope, joins);
  } else if (node[''] === 'JOINEXPR' && (node.jointype === '1' || node.jointype === '3')) {
    const left = walk(node.larg, node.jointype === '3');
    const right = walk(node.rarg, node.jointype === '1');
    collectEqualities(query, node.quals, node.jointype === '1' ? right : left, joins);
  } else joins.isFull = true;
  return below;
}

function collectEqualities(
  query: TreeNode,
  condition: TreeValue | undefined,
  scope: ReadonlySet<string> | null,
  joins: Joins,
): void {
  if (!isNode(condition)) return;
  if (condition[''] === 'BOOLEXPR' && condition.boolop === 'and') {
    for (const part of nodesOf(condition.args)) collectEqualities(query, part, scope, joins);
  }
  const [left, right] = nodesOf(condition.args);
  if (condition[''] !== 'OPEXPR' || left === undefined || right === undefined) return;
  const sides = [operandOf(query, left), operandOf(query, right)] as const;
  const isExact = [left, right].every((side) => operandOf(query, side, 'exact') !== null);
  const { opno, inputcollid } = condition;
  joins.equalities.push({ sides, operator: String(opno), collation: String(inputcollid), scope, isExact });
}

/**
 * An expression as an operand, if it is a column or constant. Columns of joins and groups are replaced by their
 * sources.
 *
 * @param how `exact`: only a column in its own type; read as another type (`citext`), different values may be equal.
 */
function operandOf(query: TreeNode, expression: TreeValue | undefined, how: 'exact' | 'any' = 'any'): Operand {
  if (!isNode(expression)) return null;
  switch (expression['']) {
    case 'CONST':
      return how === 'any' ? 'constant' : null;
    case 'RELABELTYPE':
      return how === 'any' ? operandOf(query, expression.arg) : null;
    case 'VAR': {
      if (expression.varlevelsup !== '0') return null;
      const { varno, varattno } = expression as { varno: string; varattno: string };
      const entry = nodesOf(query.rtable)[Number(varno) - 1];
      const made = entry?.rtekind === '2' ? entry.joinaliasvars : entry?.rtekind === '9' ? entry.groupexprs : null;
      if (made === null) return `${varno}.${varattno}`;
      return operandOf(query, Array.isArray(made) ? (made[Number(varattno) - 1] as TreeValue) : undefined, how);
    }
    default:
      return null;
  }
}
