/**
 * The plan: what a compiled operation will read or write, decided but not yet printed. Plain data between the planner, which
 * may refuse a request (plan-*.ts), and the printers, which may not fail (print-*.ts).
 *
 * `key` is always a response key: a GraphQL name, so letters, digits and underscores.
 */
import type {
  Column,
  EnumType,
  Oid,
  Relationship,
  Routine,
  RoutineArgument,
  Table,
  ValueType,
} from '../../model/model.ts';
import type { AggregateFunction, JsonReading, SearchLanguage } from '../../schema/origin.ts';
import type { PublicError } from '../../shared/errors.ts';
import type { Slot } from '../input/slot.ts';

/** One operation. `errors` holds the root fields that were refused. */
export interface OperationPlan {
  readonly kind: 'query' | 'mutation';
  readonly fields: readonly Entry[];
  readonly errors: readonly PublicError[];
  /** Page sizes along the path of each collection, for the cost limit. */
  readonly costs: readonly (readonly LimitPlan[])[];
  /** Most fields leading to another table on one path. */
  readonly depth: number;
  /** Enums by oid, for the printers. */
  readonly enums: ReadonlyMap<Oid, EnumType>;
}

/** What stands behind a response key, with the key. */
export type Keyed<Value> = Value & { readonly key: string };

/** `__typename`, which any object may have. */
export interface Typename {
  readonly kind: 'typename';
  readonly name: string;
}

/** One key of a row, or of the answer. */
export type Entry = Keyed<ValuePlan>;

/** A JSON object: its members in the order of the selection. */
export interface ObjectPlan {
  readonly entries: readonly Entry[];
}

/** What stands behind a response key. */
export type ValuePlan =
  | Typename
  | { readonly kind: 'introspection' }
  /** A column of the current row, or the part of it at a path. */
  | { readonly kind: 'column'; readonly column: Column; readonly at: Slot | null }
  | { readonly kind: 'node_id'; readonly table: Table }
  /** A routine's scalar, list, record or void. */
  | { readonly kind: 'call'; readonly call: CallPlan }
  /** One row of a table or routine, null without one. */
  | { readonly kind: 'row'; readonly source: RowSource; readonly object: ObjectPlan }
  | { readonly kind: 'connection'; readonly connection: ConnectionPlan }
  | { readonly kind: 'write'; readonly write: WritePlan };

/** Where the one row of a `row` value comes from. */
export type RowSource = { readonly kind: 'key'; readonly table: Table; readonly slots: readonly Slot[] } | LinkedSource;

/** Where the rows of a connection come from. */
export type SetSource = { readonly kind: 'table'; readonly table: Table } | LinkedSource;

type LinkedSource =
  | { readonly kind: 'relationship'; readonly relationship: Relationship; readonly from: Table; readonly table: Table }
  | { readonly kind: 'routine'; readonly call: CallPlan; readonly table: Table };

/** A call; a computed field takes the current row before its arguments. */
export interface CallPlan {
  readonly routine: Routine;
  readonly arguments: readonly { readonly argument: RoutineArgument; readonly slot: Slot }[];
}

/** A connection: which rows, in which order, which page of them, and what is selected of it. */
export interface ConnectionPlan {
  readonly source: SetSource;
  readonly filter: Condition | null;
  /** Effective order: the requested terms, then the whole primary key. */
  readonly order: readonly OrderTerm[];
  /** The first terms of the order are columns of which each combination of values has one row: this many. */
  readonly distinct: number;
  readonly page: PagePlan;
  readonly entries: readonly ConnectionEntry[];
}

/** Which part of the ordered rows is shown. */
export interface PagePlan {
  /** The scan runs in reverse and the page is presented the right way round. */
  readonly backward: boolean;
  /** Where nulls come last, rows with one come after a cursor with a value. Else they come after none. */
  readonly exact: boolean;
  readonly cursor: CursorPlan | null;
  /** Ends each cursor where the order has arguments, so that one that was made with others is told from it. */
  readonly seal: Slot | null;
  readonly limit: LimitPlan;
  readonly offset: LimitPlan | null;
}

/** A number of rows: written into the text, or bound. */
export type LimitPlan =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'slot'; readonly slot: Slot };

/** A cursor: one slot an element, null where the element is known to be null. */
export interface CursorPlan {
  readonly elements: readonly (Slot | null)[];
}

/** One value of an order, with its direction and the place of its nulls. */
export interface OrderTerm {
  readonly expression: OrderExpression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** A key of a connection object. */
export type ConnectionEntry = Keyed<
  | Typename
  | { readonly kind: 'edges'; readonly entries: readonly EdgeEntry[] }
  | { readonly kind: 'page_info'; readonly entries: readonly PageInfoEntry[] }
  /** Counted no further than `atMost`; null: all of them. */
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

/** What a client may ask of a page. */
export type PageFact = 'start_cursor' | 'end_cursor' | 'has_next_page' | 'has_previous_page';

/** A key of the `aggregate` object. */
export type AggregateEntry = Keyed<
  | Typename
  | { readonly kind: 'count' }
  | { readonly kind: 'function'; readonly entries: readonly AggregateColumnEntry[] }
>;

/** A key below `sum`, `avg`, `min`, `max` or `distinctCount`. */
export type AggregateColumnEntry = Keyed<Typename | ColumnAggregate>;

/** What is computed of the values of a column. */
export type ColumnAggregate = Extract<Expression, { readonly kind: 'aggregate' | 'distinct_count' }>;

/** All rows of a connection, in groups that have equal keys. */
export interface GroupsPlan {
  readonly keys: readonly GroupKey[];
  readonly having: {
    /** The rows that are counted and summed for the condition; null: all of them. */
    readonly counted: Condition | null;
    readonly condition: Condition;
  } | null;
  /** The requested terms, then all keys, so the order is total. */
  readonly order: readonly GroupTerm[];
  readonly limit: LimitPlan;
  readonly offset: LimitPlan | null;
  readonly entries: readonly GroupEntry[];
}

/** A value that the rows of a group have in common. */
export interface GroupKey {
  readonly column: Column;
  /** Dates and times are cut down to the unit, in the zone where one is given. */
  readonly truncate: { readonly unit: string; readonly zone: Slot | null } | null;
}

/** A term of the order of groups: a key, by its index, or what is computed of the rows of a group. */
export interface GroupTerm {
  readonly of: number | Extract<Expression, { readonly kind: 'aggregate' | 'count' }>;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** A key of a group. */
export type GroupEntry = AggregateEntry | Keyed<{ readonly kind: 'keys'; readonly entries: readonly GroupKeyEntry[] }>;

/** A key below `key`: the index of the key, null for a column that rows are not grouped by. */
export type GroupKeyEntry = Keyed<Typename | { readonly kind: 'key'; readonly index: number | null }>;

/** A value that is computed of the current row, or of the rows of a group. */
export type Expression =
  | { readonly kind: 'column'; readonly column: Column }
  | Computed
  | JsonPart
  | Rank
  | GroupExpression;

/** A value that is computed of the rows of a group. */
export type GroupExpression =
  | { readonly kind: 'count' }
  | { readonly kind: 'distinct_count'; readonly column: Column }
  | { readonly kind: 'aggregate'; readonly function: AggregateFunction; readonly column: Column };

/** What a function computes of the current row. */
export interface Computed {
  readonly kind: 'computed';
  readonly call: CallPlan;
  readonly type: ValueType;
}

/** The part of a JSON value at a path. One that is no number cannot be read as a number (condition `json_type`). */
export interface JsonPart {
  readonly kind: 'json_part';
  readonly of: Expression;
  readonly path: Slot;
  readonly as: JsonReading;
}

/** How well a column fits a text search. */
export interface Rank {
  readonly kind: 'rank';
  readonly column: Column;
  readonly search: SearchPlan;
  /** Bits of PostgreSQL's functions. */
  readonly normalization: Slot;
  /** By how near the words are to each other. */
  readonly coverDensity: boolean;
}

/** What rows are ordered by: a value of the row or of the related one, null without one, or of all related rows where there may be many. */
export type OrderExpression =
  | Exclude<Expression, JsonPart>
  | { readonly kind: 'related'; readonly related: RelatedRows; readonly expression: OrderExpression };

/** A filter, ready to print. Empty conjunctions do not occur: they are null one level up. */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly items: readonly Condition[] }
  | { readonly kind: 'not'; readonly item: Condition }
  /** Unknown counts as true. */
  | { readonly kind: 'not_true'; readonly item: Condition }
  /** False where it is unknown of a value that is there. */
  | { readonly kind: 'known'; readonly item: Condition; readonly of: Expression }
  | { readonly kind: 'constant'; readonly value: boolean }
  | Comparison
  /** A function of the current row answers true. */
  | { readonly kind: 'holds'; readonly call: CallPlan }
  /** A text search finds something in the value. */
  | { readonly kind: 'search'; readonly expression: Expression; readonly search: SearchPlan }
  /** The part of a JSON value is of a type, and meets the condition. */
  | {
      readonly kind: 'json_type';
      readonly part: JsonPart;
      readonly type: 'number' | 'boolean';
      readonly item: Condition;
    }
  | { readonly kind: 'null_test'; readonly expression: Expression; readonly negated: boolean }
  /** There is a related row that meets the condition, where one is given. */
  | { readonly kind: 'exists'; readonly related: RelatedRows }
  /** The number of related rows, which are counted as far as it takes. */
  | {
      readonly kind: 'count_related';
      readonly related: RelatedRows;
      readonly operator: ComparisonOperator;
      readonly slot: Slot;
    }
  /** The related rows as one group meet `having`. */
  | { readonly kind: 'group_related'; readonly related: RelatedRows; readonly having: Condition }
  /** All primary key columns of `table` equal the slots. */
  | { readonly kind: 'key'; readonly table: Table; readonly slots: readonly Slot[] };

/** A value is compared with one operand. */
export interface Comparison {
  readonly kind: 'compare';
  readonly expression: Expression;
  readonly operator: ComparisonOperator;
  readonly slot: Slot;
}

/** What a text search looks for. */
export interface SearchPlan {
  readonly by: SearchLanguage;
  readonly slot: Slot;
  /** The name of the text search configuration; null: the default of the session. */
  readonly config: Slot | null;
}

/** The rows that a relationship leads to from the current row, as far as they meet the condition. */
export interface RelatedRows {
  readonly relationship: Relationship;
  readonly from: Table;
  readonly table: Table;
  readonly condition: Condition | null;
}

/** The largest number that a count of related rows is compared with. */
export const mostCounted = 1000;

/** Filter operators that compare a value with one operand. */
export type ComparisonOperator =
  | 'eq' | 'neq' | 'lt' | 'lte' | 'gt' | 'gte' | 'in' | 'startsWith' | 'like' | 'ilike' | 'regex' | 'iregex'
  | 'contains' | 'containedBy' | 'overlaps' | 'hasKey' | 'hasAllKeys' | 'hasAnyKey' | 'findsPath' | 'meetsPath'; // biome-ignore format: a table of names

/** A root field of a mutation that writes a table. */
export interface WritePlan {
  readonly table: Table;
  readonly change: WriteChange;
  readonly entries: readonly WriteEntry[];
}

/** What a root field of a mutation does to its table. */
export type WriteChange =
  | {
      readonly kind: 'insert';
      readonly columns: readonly InsertColumn[];
      /** One insert each; the columns it names are indexes into `columns`. More than one where objects leave different columns to their defaults. */
      readonly groups: readonly (readonly number[])[];
      /** The group of each object; null where there is one. */
      readonly groupOf: Slot | null;
    }
  | {
      readonly kind: 'update';
      readonly set: readonly Assignment[];
      readonly filter: Condition | null;
      readonly atMost: Slot;
    }
  | { readonly kind: 'delete'; readonly filter: Condition | null; readonly atMost: Slot };

/** A column that at least one inserted object names. */
export interface InsertColumn {
  readonly column: Column;
  /** An array of texts, an element for each object. */
  readonly values: Slot;
  /** An array that says which objects name it; null where all do. The others get the column's default. */
  readonly named: Slot | null;
}

/** A column that an update sets. */
export interface Assignment {
  readonly column: Column;
  readonly slot: Slot;
}

/** A key of a mutation payload. */
type WriteEntry = Keyed<
  Typename | { readonly kind: 'affected_count' } | { readonly kind: 'records'; readonly object: ObjectPlan }
>;
