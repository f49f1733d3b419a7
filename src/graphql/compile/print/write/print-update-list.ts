/**
 * Prints a run of a list of updates as one statement (docs/counters-and-lists.md): `update … from (the entries) …`.
 *
 * Each key and each change is one array with an element for each entry, so the text is the same for any number. Rows are
 * locked in the order of their keys, as far as PostgreSQL follows it, because two lists in opposite order would wait for
 * each other. Simple selections come back as a row for each entry, others as elements of JSON separated by commas.
 */

import type { Table } from '../../../model/model.ts';
import { layOutAll } from '../../answer/answer-layout.ts';
import { jsonPieces, Selection } from '../../answer/row-layout.ts';
import { runsVolatile } from '../../plan/inspect-plan.ts';
import type { UpdateListPlan } from '../../plan/plan.ts';
import type { BulkUpdate } from '../../plan/write/assignment.ts';
import { printFailure, sentinels } from '../../sql/failure-sentinels.ts';
import { printObjectQuery } from '../../sql/object.ts';
import { keyType, printCompared } from '../../sql/operator.ts';
import { printMembers, type SqlPrinter, tableName } from '../../sql/printer.ts';
import { directRow, list, type Names, SubqueryRow } from '../../sql/row.ts';
import { builtin, empty, ident, join, param, type Sql, sql, typeName } from '../../sql/sql.ts';
import { printAssignments } from './print-assignment.ts';
import { type PrintedRows, printOffset } from './print-write.ts';

/** The answers of the run's entries, a row for each. @param check As in `printWrite`. */
export function printBulkJson(
  printer: SqlPrinter,
  { table, entries }: UpdateListPlan,
  change: BulkUpdate,
  check: Sql | null,
): PrintedRows {
  const { names } = printer;
  const run = new BulkStatement(names, table, change);
  const { written, isWritten } = run;
  const selection = new Selection();
  const pieces = jsonPieces(selection, entries, {
    count: sql`(${isWritten})::pg_catalog.int4`,
    records: (object) => {
      const record = printObjectQuery(printer, printMembers(printer, object, written));
      // Volatile functions must not see a part of the changes.
      const complete = sql` and (select pg_catalog.count(*) from ${ident(written.alias)}) is not null`;
      const isShown = sql`${isWritten}${runsVolatile(object) ? complete : empty}`;
      return sql`case when ${isShown} then pg_catalog.json_build_array(${record}) else '[]'::pg_catalog.json end`;
    },
  });
  const rows = sql`${run.rows()} order by ${ident(run.source, 'n')}${printOffset(run.guard(), check)}`;
  return {
    statement: sql`with ${run.expressions()} select ${selection.print()} from ${rows}`,
    layout: layOutAll([{ kind: 'rows', row: pieces }]),
  };
}

/** The parts of a run's statement. */
class BulkStatement {
  readonly source: string;
  /** The updated rows; the columns that are asked for are returned. */
  readonly written: SubqueryRow;
  /** Whether an entry has updated a row. */
  readonly isWritten: Sql;
  readonly #target: string;
  readonly #table: Table;
  readonly #change: BulkUpdate;
  readonly #changes: Sql;

  constructor(names: Names, table: Table, change: BulkUpdate) {
    [this.source, this.#target] = [names.next('r'), names.next('t')];
    this.written = new SubqueryRow(names.next('x'));
    this.isWritten = sql`${ident(this.written.alias, 'n')} is not null`;
    this.#table = table;
    this.#change = change;
    this.#changes = printAssignments(
      names,
      change.set,
      directRow(this.#target, table),
      (_, index) => (type) => sql`${ident(this.source, `c${index}`)}::${typeName(type)}`,
    );
  }

  /** The entries and the update, as common table expressions. Print them after everything that reads `written`. */
  expressions(): Sql {
    const [source, target] = [this.source, this.#target];
    const returned = [sql`${ident(source, 'n')} as "n"`, ...this.written.selectList(directRow(target, this.#table))];
    const update = sql`update ${tableName(this.#table)} as ${ident(target)} set ${this.#changes} from ${ident(source)} where ${printKey(this.#change, { source, target })} returning ${list(returned)}`;
    return sql`${ident(source)} as (${printSource(this.#change)}), ${ident(this.written.alias)} as (${update})`;
  }

  /** The entries with what they have written, as a from item. */
  rows(): Sql {
    const [source, written] = [ident(this.source), ident(this.written.alias)];
    return sql`${source} left join ${written} on ${ident(this.written.alias, 'n')} operator(pg_catalog.=) ${ident(this.source, 'n')}`;
  }

  /** Refuses equal keys, over all entries. Keys of different text may be equal. PostgreSQL would take any one of their entries. */
  guard(): Sql {
    const key = list(this.#change.keys.map((_, index) => ident(this.source, `k${index}`)));
    const repeated = sql`pg_catalog.count(*) operator(pg_catalog.-) pg_catalog.count(distinct (${key}))`;
    const failure = printFailure(sentinels.sameRow, sql`(${repeated})`);
    return sql`(select case when ${repeated} operator(pg_catalog.>) 0 then ${failure} end from ${ident(this.source)})`;
  }
}

/** Names of the entries and of the table in the statement. */
interface Aliases {
  readonly source: string;
  readonly target: string;
}

/** The entries: `k0`, … are the key, `c0`, … the changes as text, `n` the position. */
function printSource({ keys, set }: BulkUpdate): Sql {
  const lists = [
    ...keys.map(({ column, values }) => param(values, keyType(column.cast), { array: true })),
    ...set.map(({ column, slot }) => param(slot, builtin.text, { array: true, later: column.cast })),
  ];
  const names = [...keys.map((_, index) => `k${index}`), ...set.map((_, index) => `c${index}`), 'n'];
  const unnested = list(lists.map((array) => sql`pg_catalog.unnest(${array})`));
  const order = list(keys.map((_, index) => ident('e', `k${index}`)));
  return sql`select ${list(names.map((name) => ident('e', name)))} from rows from (${unnested}) with ordinality as "e"(${list(names.map((name) => ident(name)))}) order by ${order}`;
}

function printKey({ keys }: BulkUpdate, { source, target }: Aliases): Sql {
  const pairs = keys.map(({ column }, index) =>
    printCompared(keyType(column.cast), 'eq', ident(target, column.name), ident(source, `k${index}`)),
  );
  return join(pairs, sql` and `);
}
