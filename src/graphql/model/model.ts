/**
 * The model: the part of the exposed namespaces that one role may see, with every GraphQL name decided.
 *
 * Plain frozen data, made by build-model.ts from a catalog and a role. Roles that see the same share one model (same-model.ts).
 * Objects reference each other by oid. Schema and plans are made from it; it knows nothing of GraphQL objects or SQL text.
 */
import type { ExtensionName } from '../../config/extensions.ts';
import type { NondeterministicCollation, TypeOperators } from '../catalog/catalog.ts';
import type { EarlyDefault } from './extensions/early-defaults.ts';
import type { SharedType } from './extensions/shared-types.ts';
import type { IndexExpression } from './index-tokens.ts';
import type { tableTypeNames } from './inflect.ts';
import type { ScalarName } from './scalars.ts';

/** PostgreSQL object id, as decimal text. */
export type Oid = string;

/** A qualified SQL name, unquoted. */
export interface QualifiedName {
  readonly namespace: string;
  readonly name: string;
}

/** How one PostgreSQL type is encoded. `cast` is the declared type, printed for `$1::<cast>`. `scalar` is one JSON value. */
export type ValueType =
  | { readonly kind: 'scalar'; readonly scalar: ScalarName; readonly cast: SqlType }
  | { readonly kind: 'enum'; readonly enum: Oid; readonly cast: SqlType }
  | { readonly kind: 'list'; readonly element: ScalarValueType | EnumValueType; readonly cast: SqlType };
/** A type encoded as one scalar. */
export type ScalarValueType = Extract<ValueType, { kind: 'scalar' }>;
/** An enum of the schema. */
export type EnumValueType = Extract<ValueType, { kind: 'enum' }>;

/** How an argument of a function is encoded: as a value, or as an object or a list of objects. */
export type ArgumentType =
  | ValueType
  | { readonly kind: 'composite'; readonly composite: Oid; readonly isList: boolean; readonly cast: SqlType };

/** A declared PostgreSQL type. */
export interface SqlType extends QualifiedName {
  /** The type's own oid; `name` is the catalog's (`int4`, `_text` for arrays), so ident(namespace).ident(name) always works. */
  readonly oid: Oid;
  /** Modifier as text between parentheses, for example `8,2` or `40`; null for none. Only digits, commas, blanks, minus. */
  readonly modifier: string | null;
  /** Characters allowed by `varchar(n)`, `char(n)` or, for arrays of these, by one element. */
  readonly maxLength: number | null;
  /** `bpchar`, with or without length: comparison ignores trailing blanks, output keeps them. */
  readonly blankPadded: boolean;
  /** An array whose text has separators other than commas, such as `box[]`: values are cast from `text[]`. */
  readonly fromTexts: boolean;
  /** Whether PostgreSQL has arrays of the type, or it is one; null: neither. */
  readonly arrays: 'of_it' | 'itself' | null;
  /** Where its values may name time zones; null: nowhere. */
  readonly zones: ZonePlace | null;
  /** The base type of a domain that is exposed as it (extension `reads`); null for others. */
  readonly base: SqlType | null;
  /** What PostgreSQL has not for its values: equality, and so no order, or an order alone. */
  readonly lacks: 'equality' | 'order' | null;
  /** Comparison operators outside `pg_catalog`; null for those in it, as for enums, arrays and ranges. */
  readonly own: OwnOperators | null;
}

/** Where the text of a value may name time zones: for composite values and arrays of them, the place in each attribute, or null. */
export type ZonePlace = 'anywhere' | readonly (ZonePlace | null)[];

/** The type used for comparisons and sums. A domain's constraints apply to written values, not to searched ones. */
export function comparedAs(type: SqlType): SqlType {
  return type.base ?? type;
}

/** Operators of a base type outside `pg_catalog`, from its own schema; those for patterns take a text. */
export interface OwnOperators {
  /** The base type: the declared one, or a domain's. */
  readonly type: QualifiedName;
  readonly isDomain: boolean;
  readonly names: TypeOperators;
}

/** An exposed namespace with the switches of its comment directive. */
export interface ModelNamespace {
  readonly name: string;
  readonly inflectNames: boolean;
  /** Opted in to introspection. */
  readonly introspection: boolean;
  /** Extensions that apply to its tables and functions. */
  readonly extensions: readonly ExtensionName[];
  /** JSON of its tables and functions travels as values, not as texts (extension `reads`). */
  readonly jsonValues: boolean;
}

/** The part of the database that one role may see, as plain data. */
export interface Model {
  /** The effective search path: existing exposed namespaces on which the role has USAGE, in order. */
  readonly namespaces: readonly ModelNamespace[];
  /** Select-valid tables that got their names, by oid, in order of namespace, then oid. */
  readonly tables: ReadonlyMap<Oid, Table>;
  /** Tables of which the role may select nothing, and insert rows (extension `writes`). */
  readonly writeOnly: readonly Table[];
  /** Enums of the schema, by oid of the type. */
  readonly enums: ReadonlyMap<Oid, EnumType>;
  /** Exposed root functions and computed fields, by oid. */
  readonly routines: ReadonlyMap<Oid, Routine>;
  /** Types of their arguments that are objects, by oid. */
  readonly composites: ReadonlyMap<Oid, CompositeType>;
  /** Shared types of extensions whose names are free. */
  readonly addedTypes: readonly SharedType[];
  /** First malformed comment directive; every request fails with it. */
  readonly directiveError: DirectiveError | null;
}

/** A malformed comment directive. */
export interface DirectiveError {
  /** Qualified SQL name of the commented object, `lib.loan` or `lib.loan.fee`. */
  readonly object: string;
  readonly problem: string;
  /** The role has a privilege on the object, so errors may name it. */
  readonly visible: boolean;
  /** The statement that makes the comment as it is; null for an overloaded routine. */
  readonly statement: string | null;
}

/** The kind of a table in the catalog. */
export type TableKind = 'table' | 'partitioned_table' | 'view' | 'materialized_view' | 'foreign_table';

/** A command that writes rows. */
export type WriteCommand = 'insert' | 'update' | 'delete';

/** The purpose of a table's type. */
export type TableType = keyof ReturnType<typeof tableTypeNames>;

/** A select-valid table with everything that the schema shows of it. */
export interface Table extends QualifiedName {
  readonly oid: Oid;
  readonly kind: TableKind;
  /** Only an extension offers it, so it never replaces a name. */
  readonly added: boolean;
  /** GraphQL name B of the object type, from which all others derive (inflect.ts). */
  readonly baseName: string;
  readonly description: string | null;
  /** Largest page size: the table's, otherwise the namespace's, otherwise 30. */
  readonly maxRows: number;
  readonly totalCount: boolean;
  /** Cursors never skip rows (extension `reads`). */
  readonly exactCursors: boolean;
  /** Writes return nothing where only their number is asked for (extension `writes`). */
  readonly unreadWrites: boolean;
  readonly aggregate: boolean;
  /** Big numbers are texts in aggregates, too (extension `reads`). */
  readonly exactNumbers: boolean;
  readonly rowSecurity: boolean;
  /** Every column by attribute number, including those the role may not use; see the flags of `Column`. */
  readonly columns: readonly Column[];
  /** Names that tell nothing of hidden columns: of constraints that concern others only. Null: it has no hidden columns. */
  readonly visibleConstraints: readonly string[] | null;
  /** Attribute numbers of the primary key, in key order. */
  readonly primaryKey: readonly number[];
  /** Reading (or writing) it may run code that is not PostgreSQL's own. */
  readonly readsUserCode: boolean;
  readonly writesUserCode: boolean;
  /** What planning each use of it costs beside its name: units of graphql/compile/sql/planning-weight. */
  readonly planningWeight: number;
  /** A rule may add statements that return any number of rows. */
  readonly hasRules: boolean;
  /** A trigger may change or suppress rows before they are inserted. */
  readonly changesInserts: boolean;
  /** A constraint guarantees at every moment that no two rows have the same key. */
  readonly uniqueKey: boolean;
  /** No index of an expression has an unusual null position. */
  readonly defaultNullOrder: boolean;
  /** The declared types of all key columns allow `bByPk`. */
  readonly byPk: boolean;
  /** The table has its root field `bCollection`: of equal names, only one table gets it. */
  readonly rootField: boolean;
  /** Whether these root fields exist, considering writable columns. */
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  /** Relationships in collection order: outbound, then inbound. Of equal names, the later one wins. */
  readonly relationships: readonly Relationship[];
  /** Oids of computed fields, in order of oid. */
  readonly computedFields: readonly Oid[];
  /** Functions of a row for filters and orders (extension `reads`). */
  readonly filterFunctions: readonly FunctionEntry[];
  readonly orderFunctions: readonly FunctionEntry[];
  /** Unique indexes that an insert can name for conflicts (extension `writes`). */
  readonly conflictTargets: readonly ConflictTarget[];
  /** Unique keys that name a row in a link (extension `writes`). */
  readonly keys: readonly TableKey[];
  /** The root field for lists of updates, and the commands with one for one row (extension `writes`). */
  readonly updateMany: boolean;
  readonly rowWrites: readonly WriteCommand[];
  /** The table's extension types whose names are free. */
  readonly addedTypes: readonly TableType[];
  /** Shared extension types that it uses, if their names are free. */
  readonly sharedTypes: readonly SharedType[];
}

/** A unique index that an insert can name for conflicts; as `on conflict` takes it, so without its name. */
export interface ConflictTarget {
  /** Name of the index, which is a GraphQL name. */
  readonly name: string;
  readonly keys: readonly IndexExpression[];
  /** The condition of a partial index. */
  readonly predicate: IndexExpression | null;
  /** Columns of a unique index by which the role finds a row again; null: none, and no rows are hidden. */
  readonly identity: readonly number[] | null;
  /** What hides rows that are there from the role. */
  readonly hiddenBy: 'nothing' | 'policy' | 'view';
}

/** A unique key as an entry of the input that names a row: its columns by number, and their input if there are several. */
export interface TableKey {
  readonly fieldName: string;
  readonly columns: readonly number[];
  readonly inputName: string | null;
}

/** A function of a row as an entry of a filter or order, named after its computed field. */
export interface FunctionEntry {
  readonly name: string;
  readonly routine: Oid;
  readonly type: ValueType;
  /** Name of the input with its arguments; null: without arguments, and the entry is like a column's. */
  readonly input: string | null;
}

/** A column, with the role's privileges on it. */
export interface Column {
  readonly number: number;
  readonly name: string;
  /** GraphQL field name; null for an invalid name (the column is then unused). */
  readonly fieldName: string | null;
  readonly description: string | null;
  /** Null if the type cannot be exposed; key columns may still have one. */
  readonly type: ValueType | null;
  /** The declared type, even if `type` is null. */
  readonly cast: SqlType;
  readonly notNull: boolean;
  /** The column or its domain is not null. Some writes bypass domain constraints, so a row may still have a null. */
  readonly neverNull: boolean;
  /** No index has an unusual null position: an order without nulls may use either. */
  readonly defaultNullOrder: boolean;
  /** No row has a null, and the null order is usual. */
  readonly hasNoNulls: boolean;
  /** Set if its collation may take different texts for equal. */
  readonly nondeterministicCollation: NondeterministicCollation | null;
  /** In the object type: privilege, type and name allow it (the schema resolves name conflicts). */
  readonly readable: boolean;
  readonly filterable: boolean;
  readonly orderable: boolean;
  readonly insertable: boolean;
  readonly updatable: boolean;
  /** The database generates a value unless an insert gives one: serial, or identity by default (extension `writes`). */
  readonly generatedKey: boolean;
  /** Only an extension offers it, so it never replaces a name. */
  readonly added: boolean;
  /** The role has SELECT on it, whatever its type. */
  readonly selectable: boolean;
  /** An insert that leaves out the column may give it a value other than null. */
  readonly hasDefault: boolean;
  /** Its default, if that may be computed before the row (extension `writes`). */
  readonly earlyDefault: EarlyDefault | null;
  /** Entry of the aggregate types, null if it has none. */
  readonly sum: ScalarName | null;
  readonly avg: ScalarName | null;
  readonly min: ScalarName | null;
  readonly max: ScalarName | null;
  /** Of all and of any value together (extension `reads`). */
  readonly bool: ScalarName | null;
}

/** One direction of a foreign key, as a field. */
export interface Relationship {
  /** Oid of the constraint; `directive:<table oid>:<index>` for those from `foreign_keys`. */
  readonly id: string;
  readonly direction: 'outbound' | 'inbound';
  readonly fieldName: string;
  /** Only an extension offers it, so it never replaces a name. */
  readonly added: boolean;
  readonly cardinality: 'one' | 'many';
  /** Nullability of the field; inbound ones are always nullable. */
  readonly nullable: boolean;
  readonly target: Oid;
  /** Join pairs in constraint order: attribute numbers on this table and on the target; none for a junction table. */
  readonly pairs: readonly { readonly local: number; readonly foreign: number }[];
  /** The junction table (extension `reads`); null: a direct reference. */
  readonly through: Through | null;
  /** A catalog constraint guarantees at most one match; otherwise a to-one needs `limit 1`. */
  readonly unique: boolean;
  /** Each row with a value in all key columns has a related row that the role sees. */
  readonly enforced: boolean;
  /** It is enforced, and no key column is null. */
  readonly required: boolean;
  /** Rows can be filtered by the related rows (extension `reads`). */
  readonly filterable: boolean;
  /** Rows can be ordered by the related rows (extension `reads`). */
  readonly orderable: boolean;
  /** Rows can be grouped by the related row (extension `reads`). */
  readonly groupable: boolean;
  /** Rows can be inserted with related rows (extension `writes`). */
  readonly insertable: boolean;
  /** The same for updates. */
  readonly updatable: boolean;
}

/** A junction table: each of its rows belongs to one row on either side. */
export interface Through extends QualifiedName {
  readonly readsUserCode: boolean;
  readonly planningWeight: number;
  /** Its columns, each with the attribute number of the matching column on its side. */
  readonly near: readonly LinkColumn[];
  readonly far: readonly LinkColumn[];
}

/** A column of a junction table, and the column it equals. */
export interface LinkColumn {
  readonly column: Column;
  readonly number: number;
}

/** An enum type of the schema. */
export interface EnumType extends QualifiedName {
  readonly oid: Oid;
  readonly graphqlName: string;
  /** Values in PostgreSQL order. `graphqlName` null: a label that cannot be a GraphQL name. */
  readonly values: readonly { readonly label: string; readonly graphqlName: string | null }[];
  /** Whether any label differs from its GraphQL name, so that output needs mapping. */
  readonly mapped: boolean;
  /** Lists of it have a filter (extension `reads`). */
  readonly hasListFilter: boolean;
}

/** A composite type, or the row type of a table, as an input (extension `writes`). */
export interface CompositeType extends QualifiedName {
  readonly oid: Oid;
  /** Oid of the table, or of the type's own entry in `pg_class`. */
  readonly table: Oid | null;
  readonly inputName: string;
  /** In the order of a row. */
  readonly attributes: readonly CompositeAttribute[];
}

/** An attribute of a composite type; without a `fieldName`, it is always null. */
export interface CompositeAttribute extends Omit<ResultColumn, 'type'> {
  readonly type: ArgumentType | null;
}

/** The result of a routine (docs/functions.md). */
export type RoutineResult =
  | { readonly kind: 'value'; readonly type: ValueType }
  | { readonly kind: 'void' }
  /** A JSON object of anonymous or OUT columns (computed fields only). */
  | { readonly kind: 'record' }
  | { readonly kind: 'row'; readonly table: Oid }
  | { readonly kind: 'set'; readonly table: Oid }
  /** An object with columns of its own, or a list of at most `maxRows` of them (extension `writes`). */
  | {
      readonly kind: 'object';
      readonly typeName: string;
      readonly columns: readonly ResultColumn[];
      /** Null: a single object. */
      readonly maxRows: number | null;
    };

/** A column of rows that are not those of a table; no field without a `fieldName`. */
export type ResultColumn = Pick<Column, 'number' | 'name' | 'fieldName' | 'type' | 'cast'>;

/** A function exposed as a root field or computed field. */
export interface Routine extends QualifiedName {
  readonly oid: Oid;
  readonly use: 'query' | 'mutation' | 'computed';
  readonly fieldName: string;
  readonly description: string | null;
  /** Only an extension offers it, so it never replaces a name. */
  readonly added: boolean;
  readonly volatility: 'immutable' | 'stable' | 'volatile';
  /** Declared `setof`; with `kind: 'value' | 'row'`, a function with `rows 1`. */
  readonly returnsSet: boolean;
  /** What planning each call of it costs beside its name. */
  readonly planningWeight: number;
  readonly result: RoutineResult;
  /** Input arguments, without the row of `table` that a computed field takes first. */
  readonly arguments: readonly RoutineArgument[];
  /** The table whose row a computed field takes. */
  readonly table: Oid | null;
}

/** An input argument of a function. */
export interface RoutineArgument {
  readonly name: string;
  readonly fieldName: string;
  readonly type: ArgumentType;
  /** A list that stands for any number of arguments (extension `writes`). */
  readonly isVariadic: boolean;
  /** Has no usable default: the GraphQL argument is non-null. */
  readonly required: boolean;
  /** GraphQL literal shown as `defaultValue`, null for none; never used for coercion. */
  readonly displayDefault: string | null;
}
