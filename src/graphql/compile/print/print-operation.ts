/**
 * Prints a planned operation. A query is one statement: it returns rows with a simple layout (print-rows.ts), or the
 * whole `data` object as text. A mutation has statements for each root field; the last returns the field's value.
 */

import type { Table } from '../../model/model.ts';
import type { Path, Slot } from '../input/slot.ts';
import type { Entry, Keyed, ObjectsPlace, OperationPlan, ValuePlan, WriteChange } from '../plan/plan.ts';
import type { Assignment, EachUpdate } from '../plan/write/assignment.ts';
import type { NestedWrites } from '../plan/write/nested-writes.ts';
import { isTypename, printEntries, printObject } from '../sql/object.ts';
import type { Printer } from '../sql/printer.ts';
import { Names } from '../sql/row.ts';
import { printSql, type Sql, sql, type ZonedSlot } from '../sql/sql.ts';
import { type AnswerLayout, layOutAll, layOutText } from './answer-layout.ts';
import { printConnectionText } from './print-connection.ts';
import { printRows } from './print-rows.ts';
import { jsonText, printText } from './print-text.ts';
import { printTypeCheck } from './print-type-check.ts';
import { printValue } from './print-value.ts';
import { printCalledValue } from './row-layout.ts';
import { printAnsweringStep, printNestedAnswer, printNestedRows, printStep } from './write/print-nested-writes.ts';
import { printEach, printEachRow } from './write/print-update-list.ts';
import { printWrite, printWrittenRows } from './write/print-write.ts';

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
}

const noRefusals: Refusals = { atMost: null, objects: null, place: null, increment: null };

type UpdateListValue = Extract<ValuePlan, { readonly kind: 'update_list' }>;

/** Prints the statements of an operation; none if every field was refused. */
export function printOperation(plan: OperationPlan): readonly Statement[] {
  if (plan.fields.length === 0 && plan.errors.length > 0) return [];
  if (plan.kind === 'mutation') {
    return plan.fields.flatMap((field, index) =>
      printMutationField(plan, field).map((printed) => ({ ...printed, field: index })),
    );
  }
  const check = offsetCheck(plan, plan.fields);
  const rows = printRows(makePrinter(plan), plan.fields);
  if (rows !== null) return [{ ...valueStatement(sql`${rows.select}${check}`, rows.layout), field: 0 }];
  const printer = makePrinter(plan);
  const select = plan.fields.some(hasEdges) ? printDataText(printer, plan.fields) : printData(printer, plan.fields);
  return [{ ...valueStatement(sql`${select}${check}`), field: 0 }];
}

// Parsed after all other parts of a select.
function offsetCheck({ composites }: OperationPlan, fields: readonly Entry[]): Sql {
  const check = printTypeCheck(fields, composites);
  return check === null ? sql`` : sql` offset ${check}`;
}

type Printed = Omit<Statement, 'field'>;

function valueStatement(piece: Sql, layout = layOutText(), refusals = noRefusals): Printed {
  return { ...printSql(piece), layout, result: 'value', refusals };
}

function hasEdges(field: Entry): boolean {
  return field.kind === 'connection' && field.connection.entries.some(({ kind }) => kind === 'edges');
}

function printData(printer: Printer, fields: readonly Entry[]): Sql {
  const members = printEntries(fields, (field) => printValue(printer, field, null));
  const object = printObject(printer.names, members);
  return sql`select ${object.json} from ${object.from}`;
}

function printDataText(printer: Printer, fields: readonly Entry[]): Sql {
  const texts = fields.map((field, index): Sql => {
    const frame = {
      before: `${index === 0 ? '{' : ','}"${field.key}":`,
      after: index === fields.length - 1 ? '}' : '',
    };
    if (field.kind === 'connection' && hasEdges(field)) return printConnectionText(printer, field.connection, frame);
    const text = isTypename(field) ? JSON.stringify(field.name) : jsonText(printValue(printer, field, null));
    return printText([frame.before, text, frame.after]);
  });
  return sql`select ${printText(texts)}`;
}

function printMutationField(plan: OperationPlan, field: Entry): readonly Printed[] {
  if (field.kind === 'update_list') return printUpdateList(plan, field);
  const refusals = refusalsOf(field);
  if (field.kind === 'write' && field.write.nested !== null) {
    return printNestedWrites(plan, field, field.write.nested);
  }
  if (field.kind === 'write') {
    const written = printWrittenRows(makePrinter(plan), field.write, printTypeCheck([field], plan.composites));
    if (written !== null) return [valueStatement(written.statement, written.layout, refusals)];
  }
  const called = field.kind === 'call' ? printCalledValue(field.call) : null;
  if (called !== null) {
    return [valueStatement(sql`${called.select}${offsetCheck(plan, [field])}`, layOutAll([called.column]))];
  }
  const text = sql`${printMutationText(plan, field)}${offsetCheck(plan, [field])}`;
  return [valueStatement(text, layOutText(), refusals)];
}

function printUpdateList(plan: OperationPlan, field: Keyed<UpdateListValue>): readonly Printed[] {
  const { key, list } = field;
  const { table, entries } = list;
  return list.writes.flatMap(({ change, place }): readonly Printed[] => {
    if (change.kind === 'update') {
      const alone = { key, kind: 'write', write: { table, change, entries, nested: null } } as const;
      return printMutationField(plan, alone).map((printed) => ({
        ...printed,
        result: 'elements',
        refusals: { ...printed.refusals, place },
      }));
    }
    const refusals = { ...noRefusals, increment: onlyIncrement(table, change.set) };
    return [{ ...printRun(plan, field, change, refusals), result: 'elements' }];
  });
}

function printRun(plan: OperationPlan, field: Keyed<UpdateListValue>, change: EachUpdate, refusals: Refusals): Printed {
  const check = offsetCheck(plan, [field]);
  const rows = printEachRow(makePrinter(plan), field.list, change);
  if (rows !== null) return valueStatement(sql`${rows.statement}${check}`, rows.layout, refusals);
  return valueStatement(sql`${printEach(makePrinter(plan), field.list, change)}${check}`, layOutText(), refusals);
}

function refusalsOf(field: Entry): Refusals {
  if (field.kind !== 'write') return noRefusals;
  const { table, change } = field.write;
  const increment = change.kind === 'update' ? onlyIncrement(table, change.set) : null;
  return { ...refusalsOfChange(change), increment };
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
  plan: OperationPlan,
  field: Extract<Entry, { kind: 'write' }>,
  nested: NestedWrites<WriteChange>,
): readonly Printed[] {
  const { steps, root } = nested;
  const check = offsetCheck(plan, [field]);
  const answering = printAnsweringStep(makePrinter(plan), field.write, nested);
  const printed = steps.map((step, index): Printed => {
    const refusals = refusalsOfChange(step.change, step.place);
    if (index === root && answering !== null) {
      return valueStatement(sql`${answering.select}${check}`, answering.layout, refusals);
    }
    return { ...printSql(printStep(new Names(), step, index)), layout: null, result: 'none', refusals };
  });
  if (answering !== null) return printed;
  const refusals = { ...noRefusals, place: steps[root]!.place };
  const rows = printNestedRows(makePrinter(plan), field.write, nested);
  if (rows !== null) return [...printed, valueStatement(sql`${rows.select}${check}`, rows.layout, refusals)];
  const answer = sql`${printNestedAnswer(makePrinter(plan), field.write, nested)}${check}`;
  return [...printed, valueStatement(answer, layOutText(), refusals)];
}

function printMutationText(plan: OperationPlan, field: Entry): Sql {
  const printer = makePrinter(plan);
  if (field.kind === 'write') return printWrite(printer, field.write);
  const [member] = printEntries([field], (value) => printValue(printer, value, null));
  return sql`select coalesce(pg_catalog.to_json(${member!.value}), 'null'::pg_catalog.json)`;
}

function makePrinter(plan: OperationPlan): Printer {
  return { names: new Names(), enums: plan.enums, printValue };
}
