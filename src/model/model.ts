/**
 * The model: what one role may see of the exposed namespaces, with every GraphQL name already decided.
 *
 * Plain frozen data made by build-model.ts from a catalog and a role; two roles that see the same share one model
 * (`fingerprint`). Objects refer to each other by object id, looked up in `tables`, `enums` and `routines`.
 * The schema is built from it, plans are made of it. It knows nothing of GraphQL objects or of SQL text.
 */

import type { TypeOperators } from '../catalog/catalog.ts';
import type { ExtensionName } from '../config/extensions.ts';
import type { tableTypeNames } from './inflect.ts';

/** PostgreSQL object id, as decimal text. */
export type Oid = string;

/** A qualified SQL name, unquoted. */
export interface QualifiedName {
  readonly namespace: string;
  readonly name: string;
}

/** GraphQL scalar names of the API. */
export type ScalarName =
  | 'ID' | 'Int' | 'Float' | 'String' | 'Boolean' | 'Date' | 'Time' | 'Datetime' | 'BigInt' | 'UUID' | 'JSON' | 'Cursor'
  | 'BigFloat' | 'Opaque'; // biome-ignore format: a table of names

/**
 * How one PostgreSQL type travels. `cast` is the declared type, printed with its modifier for `$1::<cast>`.
 * `scalar` covers everything that is one JSON value, `Opaque` included; lists are never nested.
 */
export type ValueType =
  | { readonly kind: 'scalar'; readonly scalar: ScalarName; readonly cast: SqlType }
  | { readonly kind: 'enum'; readonly enum: Oid; readonly cast: SqlType }
  | { readonly kind: 'list'; readonly element: ScalarValueType | EnumValueType; readonly cast: SqlType };
/** A type that travels as one scalar. */
export type ScalarValueType = Extract<ValueType, { kind: 'scalar' }>;
/** An enum of the schema. */
export type EnumValueType = Extract<ValueType, { kind: 'enum' }>;

/** A declared PostgreSQL type. */
export interface SqlType extends QualifiedName {
  /** The type's own oid; `name` is the catalog's (`int4`, `_text` for arrays), so ident(namespace).ident(name) always works. */
  readonly oid: Oid;
  /** Modifier as text between parentheses, for example `8,2` or `40`; null without one. Only digits, commas, blanks, minus. */
  readonly modifier: string | null;
  /** Characters allowed by `varchar(n)`, `char(n)` or, for arrays of these, by one element. */
  readonly maxLength: number | null;
  /** `bpchar`, with or without length: comparison ignores trailing blanks, output keeps them. */
  readonly blankPadded: boolean;
  /** An array whose text has something else than commas between its elements, such as `box[]`: values are cast from `text[]`. */
  readonly fromTexts: boolean;
  /** PostgreSQL has arrays of the type, or it is one; null: neither. */
  readonly arrays: 'of_it' | 'itself' | null;
  /** What a domain stands on, where its values travel as that (extension `domains`); null for everything else. */
  readonly base: SqlType | null;
  /** What its values are compared by where that is not in `pg_catalog`; null where it is, as for enums, arrays and ranges. */
  readonly own: OwnOperators | null;
}

/** The type as whose its values are compared and summed. A domain checks what is written, not what is looked for. */
export function comparedAs(type: SqlType): SqlType {
  return type.base ?? type;
}

/** Operators of a base type outside `pg_catalog`, which are in its schema, and take two values of it, those for patterns a text. */
export interface OwnOperators {
  /** The base type: the declared one, or what a domain stands on. */
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
  /** What is offered of its tables and functions beyond pg_graphql. */
  readonly extensions: readonly ExtensionName[];
}

/** What one role may see, as plain data. */
export interface Model {
  /** Hash of everything below. Equal fingerprints may share schema and statements. */
  readonly fingerprint: string;
  /** The effective search path: exposed namespaces that exist and on which the role has USAGE, in order. */
  readonly namespaces: readonly ModelNamespace[];
  /** Select-valid tables that won their name, by oid, in order of namespace, then oid. */
  readonly tables: ReadonlyMap<Oid, Table>;
  /** Enums that are part of the schema, by oid of the type. */
  readonly enums: ReadonlyMap<Oid, EnumType>;
  /** Root functions and computed fields that are exposed, by oid. */
  readonly routines: ReadonlyMap<Oid, Routine>;
  /** Types of no table that extensions alone add, as far as nothing else has their names. */
  readonly addedTypes: readonly SharedType[];
  /** First malformed comment directive; while set, every request fails with it. */
  readonly directiveError: DirectiveError | null;
}

/** A malformed comment directive. */
export interface DirectiveError {
  /** Qualified name of the commented object as a person writes it, `lib.loan` or `lib.loan.fee`. */
  readonly object: string;
  readonly problem: string;
  /** The role has a privilege on the object, so its name may be shown. */
  readonly visible: boolean;
}

/** What kind of relation a table is in the catalog. */
export type TableKind = 'table' | 'view' | 'materialized_view' | 'foreign_table';

/** A type that extensions add for all tables together. */
export type SharedType = 'DateTruncation' | 'JSONPathFilter' | 'JSONIsFilter' | 'TextSearchFilter' | 'TextSearchOrder';

/** What a type of a table is for. */
export type TableType = keyof ReturnType<typeof tableTypeNames>;

/** A select-valid table with everything the schema shows of it. */
export interface Table extends QualifiedName {
  readonly oid: Oid;
  readonly kind: TableKind;
  /** GraphQL name B of the object type; all derived names come from it (inflect.ts). */
  readonly baseName: string;
  readonly description: string | null;
  /** Largest page size: own, else the namespace's, else 30. */
  readonly maxRows: number;
  readonly totalCount: boolean;
  /** A cursor loses no row (extension `exact_cursors`). */
  readonly exactCursors: boolean;
  readonly aggregate: boolean;
  /** The table's row security flag. */
  readonly rowSecurity: boolean;
  /** Every column of the table by attribute number, also those the role may not use; see the flags of `Column`. */
  readonly columns: readonly Column[];
  /** Attribute numbers of the primary key, in key order. */
  readonly primaryKey: readonly number[];
  /** Reading, or writing, it may run code that is not PostgreSQL's own. */
  readonly readsUserCode: boolean;
  readonly writesUserCode: boolean;
  /** A rule may make other statements of one, which return any number of rows. */
  readonly hasRules: boolean;
  /** A constraint of the database keeps two rows from having the same key, at every moment. */
  readonly uniqueKey: boolean;
  /** The declared types of all key columns allow `bByPk`. */
  readonly byPk: boolean;
  /** The table keeps its root field `bCollection`: of equal root names one table has it. */
  readonly rootField: boolean;
  /** Entrypoints that exist, writable columns considered. */
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  /** Used relationships in collection order: outbound, then inbound. Names may collide: the later one wins. */
  readonly relationships: readonly Relationship[];
  /** Oids of computed fields, by object id. */
  readonly computedFields: readonly Oid[];
  /** Functions of a row that rows are filtered and ordered by (extension `function_filters`). */
  readonly filterFunctions: readonly FunctionEntry[];
  readonly orderFunctions: readonly FunctionEntry[];
  /** Types of the table that extensions alone add, as far as nothing else has their names. */
  readonly addedTypes: readonly TableType[];
}

/** A function of a row as an entry of a filter or an order, under the name of the field that it computes. */
export interface FunctionEntry {
  readonly name: string;
  readonly routine: Oid;
  /** Of its result. */
  readonly type: ValueType;
  /** Name of the input with its arguments; null: it has none, and the entry is that of a column. */
  readonly input: string | null;
}

/** A column, with what the role may do with it. */
export interface Column {
  readonly number: number;
  readonly name: string;
  /** GraphQL field name; null when it is not a valid name (then the column takes part in nothing). */
  readonly fieldName: string | null;
  readonly description: string | null;
  /** Null when the type cannot be exposed; key columns may still be such. */
  readonly type: ValueType | null;
  /** The declared type, also where `type` is null. */
  readonly cast: SqlType;
  readonly notNull: boolean;
  /** The field is not null: the column is not, or its domain. A row may have been written in a way in which no domain is asked. */
  readonly neverNull: boolean;
  /** No row has a null, and no index has an unusual place for them: an order may put them wherever that helps. */
  readonly hasNoNulls: boolean;
  /** In the object type: privilege, type and name allow it (conflicts of names are the schema's business). */
  readonly readable: boolean;
  readonly filterable: boolean;
  readonly orderable: boolean;
  readonly insertable: boolean;
  readonly updatable: boolean;
  /** An extension alone offers it, so it takes no name that something else has. */
  readonly added: boolean;
  /** The role holds SELECT on it, whatever its type. */
  readonly selectable: boolean;
  /** An insert that leaves the column out may give it another value than null. */
  readonly hasDefault: boolean;
  /** Entry of the aggregate types, null where not eligible. */
  readonly sum: ScalarName | null;
  readonly avg: ScalarName | null;
  readonly min: ScalarName | null;
  readonly max: ScalarName | null;
}

/** One direction of a used foreign key, as a field. */
export interface Relationship {
  /** Oid of the constraint; `directive:<table oid>:<index>` for those from `foreign_keys`. */
  readonly id: string;
  readonly direction: 'outbound' | 'inbound';
  readonly fieldName: string;
  readonly cardinality: 'one' | 'many';
  /** Nullability of the field; inbound are always nullable. */
  readonly nullable: boolean;
  /** The table this leads to. */
  readonly target: Oid;
  /** Join pairs in constraint order: attribute numbers on this table and on the target; none where a table of links joins them. */
  readonly pairs: readonly { readonly local: number; readonly foreign: number }[];
  /** The table whose rows link the two (extension `many_to_many`); null: they refer to each other. */
  readonly through: Through | null;
  /** At most one row matches by a catalog guarantee; otherwise a to-one needs `limit 1`. */
  readonly unique: boolean;
  /** Each row has one that it leads to, at every moment, and the role sees it. */
  readonly required: boolean;
  /** Rows are filtered by those that it leads to (extension `relation_filters`). */
  readonly filterable: boolean;
  /** Rows are ordered by those that it leads to (extension `relation_order`). */
  readonly orderable: boolean;
}

/** A table of links: each row belongs to one row on either side. */
export interface Through extends QualifiedName {
  readonly readsUserCode: boolean;
  /** Its columns, each with the attribute number on the side that it belongs to. */
  readonly near: readonly LinkColumn[];
  readonly far: readonly LinkColumn[];
}

/** A column of a table of links, and what it equals. */
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
}

/** What a routine gives back (docs/functions.md). */
export type RoutineResult =
  | { readonly kind: 'value'; readonly type: ValueType }
  | { readonly kind: 'void' }
  /** A JSON object of anonymous or OUT columns (computed fields only). */
  | { readonly kind: 'record' }
  | { readonly kind: 'row'; readonly table: Oid }
  | { readonly kind: 'set'; readonly table: Oid };

/** A function that is exposed as a root field or as a computed field. */
export interface Routine extends QualifiedName {
  readonly oid: Oid;
  readonly use: 'query' | 'mutation' | 'computed';
  readonly fieldName: string;
  readonly description: string | null;
  /** An extension alone offers it, so it takes no name that something else has. */
  readonly added: boolean;
  readonly volatility: 'immutable' | 'stable' | 'volatile';
  /** Declared `setof`; with `kind: 'value' | 'row'` that is a `rows 1` function. */
  readonly returnsSet: boolean;
  readonly result: RoutineResult;
  /** Input arguments, but for the row of `table` that a computed field takes first. */
  readonly arguments: readonly RoutineArgument[];
  /** The table whose row a computed field takes. */
  readonly table: Oid | null;
}

/** An input argument of a function. */
export interface RoutineArgument {
  readonly name: string;
  readonly fieldName: string;
  readonly type: ValueType;
  /** Without a usable default: the GraphQL argument is non-null. */
  readonly required: boolean;
  /** GraphQL literal shown as `defaultValue`, null for none; never used for coercion. */
  readonly displayDefault: string | null;
}
