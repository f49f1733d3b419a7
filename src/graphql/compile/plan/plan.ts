/**
 * The plan: what a compiled operation will read or write, before printing. Plain data between the planner, which may
 * refuse a request (plan-*.ts), and the printers, which may not fail (print-*.ts).
 *
 * `key` is always a response key: a GraphQL name, so letters, digits and underscores.
 */
import type { PublicError } from '../../../shared/errors.ts';
import type { AggregateFunction } from '../../model/codecs.ts';
import type {
  Column,
  CompositeType,
  ConflictTarget,
  EnumType,
  Oid,
  Relationship,
  ResultColumn,
  Routine,
  RoutineArgument,
  Table,
  ValueType,
} from '../../model/model.ts';
import type { ComparisonOperator } from '../../schema/operators.ts';
import type { JsonReading } from '../../schema/origin.ts';
import type { Slot } from '../input/slot.ts';
import type { Rank, SearchPlan } from './search-plan.ts';
import type { Assignment, BulkUpdate, KeptAssignment } from './write/assignment.ts';
import type { InsertColumn, InsertLink, NestedWrites } from './write/nested-writes.ts';

/** One operation. `errors` contains the refused root fields. */
export interface OperationPlan {
  readonly kind: 'query' | 'mutation';
  readonly fields: readonly SelectedValue[];
  readonly errors: readonly PublicError[];
  /** Page sizes along the path of each collection, for the cost limit. */
  readonly costs: readonly (readonly LimitPlan[])[];
  /** Most fields with another table on one path. */
  readonly depth: number;
  /** Enums by oid, for the printers. */
  readonly enums: ReadonlyMap<Oid, EnumType>;
  /** Composite types of arguments by oid, for the type check. */
  readonly composites: ReadonlyMap<Oid, CompositeType>;
}

/** A value under a response key. */
export type Keyed<Value> = Value & { readonly key: string };

/** `__typename`, which any object may select. */
export interface Typename {
  readonly kind: 'typename';
  readonly name: string;
}

/** One key of a row or of the answer. */
export type SelectedValue = Keyed<ValuePlan>;

/** A JSON object: its members in selection order. */
export interface ObjectPlan {
  readonly entries: readonly SelectedValue[];
}

/** The value of a response key. */
export type ValuePlan =
  | Typename
  | { readonly kind: 'introspection' }
  /** A column of the current row, or its part at a path. */
  | { readonly kind: 'column'; readonly column: ResultColumn; readonly at: Slot | null }
  | { readonly kind: 'node_id'; readonly table: Table }
  | { readonly kind: 'rank'; readonly rank: Rank }
  /** A routine's scalar, list, record or void, or the part of its JSON at a path. */
  | { readonly kind: 'call'; readonly call: CallPlan; readonly at: Slot | null }
  /** The object of a routine's result with columns of its own, or a list of them. */
  | { readonly kind: 'result'; readonly result: ResultPlan }
  /** One row of a table or routine, or null. */
  | { readonly kind: 'row'; readonly source: RowSource; readonly object: ObjectPlan }
  | { readonly kind: 'connection'; readonly connection: ConnectionPlan }
  | { readonly kind: 'write'; readonly write: WritePlan }
  | { readonly kind: 'update_list'; readonly list: UpdateListPlan };

/** A call whose result has columns of its own. */
export interface ResultPlan {
  readonly call: CallPlan;
  readonly object: ObjectPlan;
  /** The shown part of a list; null: a single object, or null. */
  readonly page: { readonly limit: LimitPlan; readonly offset: LimitPlan | null } | null;
}

/** The source of a `row` value. */
export type RowSource = { readonly kind: 'key'; readonly table: Table; readonly slots: readonly Slot[] } | LinkedSource;

/** The source of a connection's rows. */
export type SetSource = { readonly kind: 'table'; readonly table: Table } | LinkedSource;

type LinkedSource =
  | { readonly kind: 'relationship'; readonly relationship: Relationship; readonly from: Table; readonly table: Table }
  | { readonly kind: 'routine'; readonly call: CallPlan; readonly table: Table };

/** A call; a computed field passes the current row before its arguments. */
export interface CallPlan {
  readonly routine: Routine;
  readonly arguments: readonly { readonly argument: RoutineArgument; readonly slot: Slot }[];
}

/** A connection: its rows, their order, the page, and the selection. */
export interface ConnectionPlan {
  readonly source: SetSource;
  readonly filter: Condition | null;
  /** Effective order: the requested terms, then the whole primary key. */
  readonly order: readonly OrderTerm[];
  /** Number of leading order terms that are columns with one row per combination of values. */
  readonly distinct: number;
  readonly page: PagePlan;
  readonly entries: readonly ConnectionEntry[];
}

/** The shown part of the ordered rows. */
export interface PagePlan {
  /** The scan runs in reverse; the page is presented in order. */
  readonly backward: boolean;
  /** With nulls last, rows with a null follow a cursor with a value. Otherwise they follow none. */
  readonly exact: boolean;
  readonly cursor: CursorPlan | null;
  /** Ends each cursor of an order with arguments, to detect cursors made with others. */
  readonly digest: Slot | null;
  readonly limit: LimitPlan;
  readonly offset: LimitPlan | null;
}

/** A number of rows: in the text, or bound. */
export type LimitPlan =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'slot'; readonly slot: Slot };

/** A cursor: one slot per element, null for a null element. */
export interface CursorPlan {
  readonly elements: readonly (Slot | null)[];
}

/** One value of an order, with its direction and the position of its nulls. */
export interface OrderTerm {
  readonly expression: OrderExpression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** A key of a connection object. */
export type ConnectionEntry = Keyed<
  | Typename
  | { readonly kind: 'edges'; readonly entries: readonly EdgeEntry[] }
  /** The rows of the edges. */
  | { readonly kind: 'nodes'; readonly object: ObjectPlan }
  | { readonly kind: 'page_info'; readonly entries: readonly PageInfoEntry[] }
  /** Counts at most `atMost`; null: all rows. */
  | { readonly kind: 'total_count'; readonly atMost: LimitPlan | null }
  | { readonly kind: 'aggregate'; readonly entries: readonly AggregateEntry[] }
  | { readonly kind: 'groups'; readonly groups: GroupsPlan }
>;

/** A key of an edge. */
export type EdgeEntry = Keyed<
  Typename | { readonly kind: 'cursor' } | { readonly kind: 'node'; readonly object: ObjectPlan }
>;

/** A key of the page info. */
type PageInfoEntry = Keyed<Typename | { readonly kind: PageFact }>;

/** Fields of the page info. */
export type PageFact = 'start_cursor' | 'end_cursor' | 'has_next_page' | 'has_previous_page';

/** A key of the `aggregate` object, or of a group. */
export type AggregateEntry = Keyed<
  | Typename
  | Extract<GroupExpression, { readonly kind: 'count' | 'count_values' }>
  | { readonly kind: 'function'; readonly entries: readonly AggregateColumnEntry[] }
  | GroupKeys
>;

/** A key below `sum`, `avg`, `min`, `max` or `distinctCount`. */
type AggregateColumnEntry = Keyed<Typename | ColumnAggregate>;

/** An aggregate over the values of a column. */
export type ColumnAggregate = Extract<Expression, { readonly kind: 'aggregate' | 'distinct_count' }>;

/** All rows of a connection, grouped by equal keys. */
export interface GroupsPlan {
  readonly keys: readonly GroupKey[];
  /** `counted`: the condition for counted and summed rows; null: all rows. */
  readonly having: { readonly counted: Condition | null; readonly condition: Condition } | null;
  /** The requested terms, then all keys, so the order is total. */
  readonly order: readonly GroupTerm[];
  readonly limit: LimitPlan;
  readonly offset: LimitPlan | null;
  readonly entries: readonly AggregateEntry[];
}

/** A value that a group's rows share. */
export interface GroupKey {
  /** A column, of a row that to-one relationships lead to, too; `column` is the one that it ends with. */
  readonly expression: OrderExpression;
  readonly column: Column;
  /** Truncates dates and times to the unit, in the zone if given. */
  readonly truncate: { readonly unit: string; readonly zone: Slot | null } | null;
}

/** A term of the groups' order: a key, by index, or an aggregate of the group. */
export interface GroupTerm {
  readonly of: number | Extract<Expression, { readonly kind: 'aggregate' | 'count' }>;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** The object of keys, or that of a related row: null if none of its columns is one. A key has its index in the list. */
export type GroupKeys = { readonly kind: 'keys'; readonly entries: readonly GroupKeyEntry[] | null };
type GroupKeyEntry = Keyed<Typename | { readonly kind: 'key'; readonly index: number | null } | GroupKeys>;

/** A value computed from the current row or a group of rows. */
export type Expression =
  | { readonly kind: 'column'; readonly column: Column }
  | Computed
  | JsonPart
  | Element
  | Rank
  | GroupExpression;

/** A value computed from the rows of a group. */
export type GroupExpression =
  | { readonly kind: 'count' }
  /** The number of rows with a value in the column. */
  | { readonly kind: 'count_values'; readonly column: Column }
  | { readonly kind: 'distinct_count'; readonly column: Column }
  | { readonly kind: 'aggregate'; readonly function: AggregateFunction; readonly column: Column };

/** The result of a function on the current row. */
interface Computed {
  readonly kind: 'computed';
  readonly call: CallPlan;
  readonly type: ValueType;
}

/** The part of a JSON value at a path. A part that is not a number cannot be read as one (condition `json_type`). */
export interface JsonPart {
  readonly kind: 'json_part';
  readonly of: Expression;
  readonly path: Slot;
  readonly as: JsonReading;
}

/** Each element of an array, in conditions on them. */
export interface Element {
  readonly kind: 'element';
  readonly of: Exclude<Expression, Element>;
  readonly type: Extract<ValueType, { readonly kind: 'list' }>['element'];
}

/** An order's value: of the row, of the related row (null without one), or of all related rows of a to-many. */
export type OrderExpression =
  | Exclude<Expression, JsonPart | Element>
  | { readonly kind: 'related'; readonly related: RelatedRows; readonly expression: OrderExpression };

/** A filter, ready to print. Without empty conjunctions, which are null one level up. */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly items: readonly Condition[] }
  | { readonly kind: 'not'; readonly item: Condition }
  /** Treats unknown as true. */
  | { readonly kind: 'not_true'; readonly item: Condition }
  /** Treats unknown as false if the value is not null. */
  | { readonly kind: 'known'; readonly item: Condition; readonly of: Expression }
  | { readonly kind: 'constant'; readonly value: boolean }
  | Comparison
  /** A function of the current row returns true. */
  | { readonly kind: 'holds'; readonly call: CallPlan }
  /** A text search matches the value. */
  | { readonly kind: 'search'; readonly expression: Expression; readonly search: SearchPlan }
  /** The part of a JSON value has a type and meets the condition. */
  | {
      readonly kind: 'json_type';
      readonly part: JsonPart;
      readonly type: 'number' | 'boolean';
      readonly item: Condition;
    }
  | ElementsCondition
  | { readonly kind: 'null_test'; readonly expression: Expression; readonly negated: boolean }
  /** A related row exists that meets the condition, if any. */
  | { readonly kind: 'exists'; readonly related: RelatedRows }
  /** Compares the number of related rows, counted only as far as needed. */
  | {
      readonly kind: 'count_related';
      readonly related: RelatedRows;
      readonly operator: ComparisonOperator;
      readonly slot: Slot;
    }
  /** The related rows, as one group, meet `having`. */
  | { readonly kind: 'group_related'; readonly related: RelatedRows; readonly having: Condition }
  /** All primary key columns of `table` equal the slots. */
  | { readonly kind: 'key'; readonly table: Table; readonly slots: readonly Slot[] };

/** What holds of the elements of an array. */
export interface ElementsCondition {
  readonly kind: 'elements';
  readonly array: Element['of'];
  /** One of them meets the condition, if any; otherwise, each does: unknown is not enough. */
  readonly quantifier: 'any' | 'every';
  readonly condition: Condition | null;
  /** Of a null array nothing is known; otherwise, the condition does not hold. */
  readonly keepsUnknown: boolean;
}

/** Compares a value with one operand. */
export interface Comparison {
  readonly kind: 'compare';
  readonly expression: Expression;
  readonly operator: ComparisonOperator;
  readonly slot: Slot;
  /** The path of `matches` is a predicate, which must be true; otherwise it must find something. */
  readonly isPredicate?: boolean;
}

/** The current row's related rows that meet the condition. */
export interface RelatedRows {
  readonly relationship: Relationship;
  readonly from: Table;
  readonly table: Table;
  readonly condition: Condition | null;
}

/** The largest number that a count of related rows may be compared with. */
export const maxCounted = 1000;

/** A root field of a mutation that writes a table. */
export interface WritePlan {
  readonly table: Table;
  readonly change: WriteChange;
  readonly entries: readonly WriteEntry[];
  /** The answer is the only record itself, or null; it is the only entry. */
  readonly isRow: boolean;
  /** Set if related rows are written too. */
  readonly nested: NestedWrites<WriteChange> | null;
}

/** Objects to insert. */
export interface InsertChange {
  readonly kind: 'insert';
  readonly columns: readonly InsertColumn[];
  readonly links: readonly InsertLink[];
  /** The values of each object in these columns, if objects use the defaults of different ones; null: all are alike. */
  readonly rows: readonly (readonly InsertCell[])[] | null;
  /** What happens to objects whose row is there already; null: they are errors. */
  readonly conflict: ConflictPlan | null;
}

/** A value of a single object; null for none, where a kept key sets the column or nothing does. */
export type InsertCell = 'default' | { readonly value: Slot | null };

/** The change of a mutation's root field. */
export type WriteChange =
  | InsertChange
  | UpdateChange
  | { readonly kind: 'delete'; readonly filter: Condition | null; readonly atMost: Slot };

/** What an insert does with rows that are there already. */
export interface ConflictPlan {
  readonly target: ConflictTarget;
  /** Columns that get the values of the objects; none: the rows stay as they are. */
  readonly update: readonly Column[];
  /** Rows that are updated; others stay as they are. */
  readonly filter: Condition | null;
  /** For messages about the objects. */
  readonly objects: ObjectsPlace;
}

/** The place of objects in the request. */
export interface ObjectsPlace {
  /** Null: the place of the write with related rows. */
  readonly input: string | null;
  readonly locations: readonly { readonly line: number; readonly column: number }[];
}

/** The change of rows that a filter finds. */
export interface UpdateChange {
  readonly kind: 'update';
  readonly set: readonly Assignment[];
  /** Links to the rows of other steps. */
  readonly links: readonly KeptAssignment[];
  readonly filter: Condition | null;
  readonly atMost: Slot;
}

/** A list of updates: `writes` are its statements, each with the place of its entry; null for several entries. */
export interface UpdateListPlan {
  readonly table: Table;
  readonly writes: readonly { readonly change: UpdateChange | BulkUpdate; readonly place: string | null }[];
  readonly entries: readonly WriteEntry[];
}

/** A key of a mutation payload. */
type WriteEntry = Keyed<
  Typename | { readonly kind: 'affected_count' } | { readonly kind: 'records'; readonly object: ObjectPlan }
>;
