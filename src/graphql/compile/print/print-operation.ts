/**
 * Prints a planned operation. A query is one statement: it returns rows with a simple layout (print-rows.ts), or the
 * whole `data` object as text. A mutation has statements for each root field; the last returns the field's value.
 */

import type { Table } from '../../model/model.ts';
import { type AnswerLayout, layOutAll, layOutText } from '../answer/answer-layout.ts';
import { countPieces, printCalledValue } from '../answer/row-layout.ts';
import type { Path, Slot } from '../input/slot.ts';
import { showsRows } from '../plan/inspect-plan.ts';
import type {
  Keyed,
  ObjectsPlace,
  OperationPlan,
  SelectedValue,
  Typename,
  ValuePlan,
  WriteChange,
  WritePlan,
} from '../plan/plan.ts';
import type { Assignment } from '../plan/write/assignment.ts';
import type { KeySource, NestedWrites } from '../plan/write/nested-writes.ts';
import { type LongObjects, printLeft } from '../sql/bounded-object.ts';
import { isTypename, printEntries, printObject } from '../sql/object.ts';
import type { SqlPrinter } from '../sql/printer.ts';
import { Names } from '../sql/row.ts';
import { literal, printSql, type Sql, sql, type ZonedSlot } from '../sql/sql.ts';
import { printConnectionText } from './print-connection.ts';
import { printRows } from './print-rows.ts';
import { printSchemaAssertion } from './print-schema-assertion.ts';
import { jsonText, printText } from './print-text.ts';
import { printValue } from './print-value.ts';
import { nestedRows, printStep } from './write/print-nested-writes.ts';
import { printBulkJson } from './write/print-update-list.ts';
import { isUnread, printAnswer, printOffset, printWrite } from './write/print-write.ts';

/** One SQL text and the slots of its parameters. */
export interface Statement {
  readonly text: string;
  readonly slots: readonly Slot[];
  /** How often each parameter stands in the text. */
  readonly uses: readonly number[];
  readonly zoned: readonly ZonedSlot[];
  /** How much memory planning it needs (planning-weight.ts). */
  readonly weight: number;
  /** How its rows become JSON; null: it has no result. */
  readonly layout: AnswerLayout | null;
  /** Index of its root field; 0 for a query. */
  readonly field: number;
  /** Whether its result is the field's value, elements of a list separated by commas, or unused. */
  readonly result: 'value' | 'elements' | 'none';
  readonly refusals: Refusals;
}

/** What a client learns if the data do not allow a statement. */
interface Refusals {
  /** Message for an `atMost` that is exceeded, as in pg_graphql; null: it has none. */
  readonly atMost: string | null;
  /** The inserted objects, if they may update rows: two may be for the same one. */
  readonly objects: ObjectsPlace | null;
  /**
   * The place of the objects of a write with related rows, as text or as a path into the variables, or of an entry of a
   * list; null for others.
   */
  readonly place: string | Path | null;
  /** The only field that it increments; null for none or several, and where other code may compute numbers. */
  readonly increment: string | null;
  /** Why policies for SELECT hold for the rows that it writes. */
  readonly reads: RowReading | null;
}

const replacesTooMany =
  '"replace" meets more rows than it may remove. "replaceAtMost" says how many: 30 if it is left out.';

/**
 * `nothing`: they do not, because it reads no row. `returned`: rows are returned because they are selected, or (`always`)
 * with all writes. `key`, `changed_key`, `made_key`: their keys are, see `KeySource`. `met`: an upsert reads what it meets.
 * `found`: an update or delete what it finds.
 */
export type RowReading = 'nothing' | 'returned' | 'always' | 'key' | 'changed_key' | 'made_key' | 'met' | 'found';

const keyReadings: Readonly<Record<KeySource, RowReading>> = {
  objects: 'nothing',
  asked: 'key',
  changed: 'changed_key',
  made: 'made_key',
};

const noRefusals: Refusals = { atMost: null, objects: null, place: null, increment: null, reads: null };

type UpdateListValue = Extract<ValuePlan, { readonly kind: 'update_list' }>;

/** Prints the statements of an operation; none if every field was refused. @param longObjects See bounded-object.ts. */
export function printOperation(plan: OperationPlan, longObjects: LongObjects): readonly Statement[] {
  if (plan.fields.length === 0 && plan.errors.length > 0) return [];
  if (plan.kind === 'mutation') {
    return plan.fields.flatMap((field, index) =>
      printMutationField(plan, field, longObjects).map((printed) => ({ ...printed, field: index })),
    );
  }
  const check = offsetCheck(plan, plan.fields);
  const rows = printRows(makePrinter(plan, longObjects), plan.fields);
  if (rows !== null) return [{ ...valueStatement(sql`${rows.select}${check}`, rows.layout), field: 0 }];
  const printer = makePrinter(plan, longObjects);
  const select = plan.fields.some(hasRows) ? printDataText(printer, plan.fields) : printData(printer, plan.fields);
  return [{ ...valueStatement(sql`${select}${check}`), field: 0 }];
}

// Parsed after all other parts of a select.
function offsetCheck({ composites }: OperationPlan, fields: readonly SelectedValue[]): Sql {
  return printOffset(printSchemaAssertion(fields, composites));
}

type Printed = Omit<Statement, 'field'>;

function valueStatement(piece: Sql, layout = layOutText(), refusals = noRefusals): Printed {
  return { ...printSql(piece), layout, result: 'value', refusals };
}

/** Tells how many bytes of long objects are left; fewer than zero: some were dropped. */
export const leftStatement: Statement = { ...valueStatement(printLeft), field: 0 };

function hasRows(field: SelectedValue): boolean {
  return field.kind === 'connection' && field.connection.entries.some(showsRows);
}

function printData(printer: SqlPrinter, fields: readonly SelectedValue[]): Sql {
  const members = printEntries(fields, (field) => printValue(printer, field, null));
  const object = printObject(printer, members);
  return sql`select ${object.json} from ${object.from}`;
}

function printDataText(printer: SqlPrinter, fields: readonly SelectedValue[]): Sql {
  const texts = fields.map((field, index): Sql => {
    const frame = {
      before: `${index === 0 ? '{' : ','}"${field.key}":`,
      after: index === fields.length - 1 ? '}' : '',
    };
    if (field.kind === 'connection' && hasRows(field)) return printConnectionText(printer, field.connection, frame);
    const text = isTypename(field) ? JSON.stringify(field.name) : jsonText(printValue(printer, field, null));
    return printText([frame.before, text, frame.after]);
  });
  return sql`select ${printText(texts)}`;
}

function printMutationField(plan: OperationPlan, field: SelectedValue, longObjects: LongObjects): readonly Printed[] {
  if (field.kind === 'update_list') return printUpdateList(plan, field, longObjects);
  const printer = makePrinter(plan, longObjects);
  if (field.kind === 'write') {
    const { write } = field;
    const check = printSchemaAssertion([field], plan.composites);
    if (write.nested !== null) return printNestedWrites(printer, write, write.nested, check);
    const { statement, layout } = printWrite(printer, write, check);
    return [valueStatement(statement, layout, refusalsOf(write))];
  }
  const check = offsetCheck(plan, [field]);
  const called = field.kind === 'call' ? printCalledValue(field) : null;
  if (called !== null) return [valueStatement(sql`${called.select}${check}`, layOutAll([called.column]))];
  const value = isTypename(field)
    ? sql`${literal(field.name)}::pg_catalog.text`
    : printValue(printer, field as Exclude<SelectedValue, Keyed<Typename>>, null);
  return [valueStatement(sql`select pg_catalog.to_json(${value})${check}`)];
}

function printUpdateList(
  plan: OperationPlan,
  field: Keyed<UpdateListValue>,
  longObjects: LongObjects,
): readonly Printed[] {
  const { key, list } = field;
  const { table, entries } = list;
  return list.writes.flatMap(({ change, place }): readonly Printed[] => {
    if (change.kind === 'update') {
      const alone = { key, kind: 'write', write: { table, change, entries, isRow: false, nested: null } } as const;
      return printMutationField(plan, alone, longObjects).map((printed) => ({
        ...printed,
        result: 'elements',
        refusals: { ...printed.refusals, place },
      }));
    }
    const refusals = { ...noRefusals, increment: onlyIncrement(table, change.set), reads: 'found' as const };
    const check = printSchemaAssertion([field], plan.composites);
    const { statement, layout } = printBulkJson(makePrinter(plan, longObjects), list, change, check);
    return [{ ...valueStatement(statement, layout, refusals), result: 'elements' }];
  });
}

function refusalsOf(write: WritePlan): Refusals {
  const { table, change } = write;
  const increment = change.kind === 'update' ? onlyIncrement(table, change.set) : null;
  const returned = table.unreadWrites ? 'returned' : 'always';
  return { ...refusalsOfChange(change), increment, reads: readingOf(change, isUnread(write) ? 'nothing' : returned) };
}

function readingOf(change: WriteChange, inserted: RowReading): RowReading {
  if (change.kind !== 'insert') return 'found';
  return change.conflict === null ? inserted : 'met';
}

function onlyIncrement({ writesUserCode }: Table, set: readonly Assignment[]): string | null {
  const [only, another] = set.filter(({ operator }) => operator === 'increment');
  return writesUserCode || another !== undefined ? null : (only?.column.fieldName ?? null);
}

function refusalsOfChange(change: WriteChange, place: Refusals['place'] = null): Refusals {
  return change.kind === 'insert'
    ? { ...noRefusals, objects: change.conflict?.objects ?? null, place }
    : { ...noRefusals, atMost: `${change.kind} impacts too many records`, place };
}

function printNestedWrites(
  printer: SqlPrinter,
  { table, ...written }: WritePlan,
  nested: NestedWrites<WriteChange>,
  check: Sql | null,
): readonly Printed[] {
  const { steps, root, isUnread } = nested;
  const printed = steps.flatMap((step, index): readonly Printed[] => {
    const { change, place, keys, keysFrom, except } = step;
    const isLink = change.kind === 'find' || change.kind === 'connect';
    const reads = isLink ? null : readingOf(change, keys.length > 0 ? keyReadings[keysFrom] : 'nothing');
    const ofChange = isLink ? { ...noRefusals, place } : { ...refusalsOfChange(change, place), reads };
    const refusals = isLink || except === null ? ofChange : { ...ofChange, atMost: replacesTooMany };
    const statements = printStep(step, index);
    return statements.map((piece, at) => {
      const isAnswer = isUnread && index === root && at === statements.length - 1;
      return isAnswer
        ? valueStatement(piece, layOutAll(countPieces(written)), refusals)
        : { ...printSql(piece), layout: null, result: 'none', refusals };
    });
  });
  if (isUnread) return printed;
  const { statement, layout } = printAnswer(printer, written, nestedRows(printer.names, table, nested), check);
  return [...printed, valueStatement(statement, layout, { ...noRefusals, place: steps[root]!.place })];
}

function makePrinter(plan: OperationPlan, longObjects: LongObjects): SqlPrinter {
  return { names: new Names(), enums: plan.enums, longObjects, printValue };
}
