/**
 * The catalog of one database at one snapshot: rows under PostgreSQL's own names, their comment directives, and the
 * privileges of the requested roles.
 *
 * Row types contain only what sql/catalog.sql reads. GraphQL decisions are the model's. Immutable once read.
 */
import type {
  PgAttribute,
  PgClass,
  PgConstraint,
  PgEnum,
  PgIndex,
  PgNamespace,
  PgProc,
  PgType,
} from 'pg-introspection';
import type { CommentDirective } from './comment-directive.ts';

/** One row of `pg_namespace`. */
export type CatalogNamespace = Pick<PgNamespace, '_id' | 'nspname'>;

/** One row of `pg_attribute`; neither system columns nor dropped ones. */
export type AttributeRow = Pick<
  PgAttribute,
  'attrelid' | 'attname' | 'attnum' | 'atttypid' | 'atttypmod' | 'attnotnull' | 'attidentity' | 'attgenerated'
>;

/** A collation that takes different texts for equal. It allows neither regular expressions nor `ilike` and `startsWith`. */
export interface NondeterministicCollation {
  /** From PostgreSQL 18 on. */
  readonly allowsLike: boolean;
}

/** A column with derived facts. */
export interface CatalogColumn extends AttributeRow {
  /** It or its domain has a default; not for generated and identity columns. */
  readonly hasDefault: boolean;
  /** It owns a sequence, from `serial`, identity or `owned by`. */
  readonly ownsSequence: boolean;
  /** Name of this sequence, in the schema of the table, if the column gets its numbers by default. */
  readonly sequence: string | null;
  /** Name of PostgreSQL's function for random UUIDs that is its default. */
  readonly defaultFunction: string | null;
  /** An index on it puts nulls last where descending, or first where ascending. */
  readonly hasUnusualNullOrder: boolean;
  /** Set if its collation takes different texts for equal. */
  readonly nondeterministicCollation: NondeterministicCollation | null;
  /** Its type as printed by `format_type`; only for modified types outside `pg_catalog`, otherwise null. */
  readonly declaredType: string | null;
}

/** A unique index. */
export interface CatalogIndex
  extends Pick<
    PgIndex,
    | 'indexrelid'
    | 'indrelid'
    | 'indisprimary'
    | 'indisvalid'
    | 'indimmediate'
    | 'indisexclusion'
    | 'indkey'
    | 'indnkeyatts'
  > {
  readonly relname: string;
  /** Its expressions as SQL, one for each 0 of `indkey`; null without any. An element is null if it was just dropped. */
  readonly indexprs: readonly (string | null)[] | null;
  /** The condition of its rows as SQL; null: all rows. */
  readonly indpred: string | null;
  /** Numbers of the table's columns by name; null if no SQL names them. */
  readonly columns: Readonly<Record<string, number>> | null;
  /** Rows with nulls are equal, too; before PostgreSQL 15 they never are. */
  readonly nullsNotDistinct: boolean;
  /** Its table has rewrite rules. */
  readonly hasRules: boolean;
  /** Other tables inherit from its table: their rows are read with it, and may have the same keys. */
  readonly hasChildTables: boolean;
}

/** The table that PostgreSQL itself inserts a view's rows into. */
export interface ViewBase {
  readonly indexes: readonly CatalogIndex[];
  /** The view's column by column of the table. */
  readonly columns: ReadonlyMap<number, number>;
  /** No view on the way has a condition. */
  readonly showsAllRows: boolean;
}

/** A table, view, materialized view, foreign table or partitioned table of an exposed namespace. */
export interface CatalogTable
  extends Pick<
    PgClass,
    | '_id'
    | 'relname'
    | 'relnamespace'
    | 'relkind'
    | 'relrowsecurity'
    | 'relhassubclass'
    | 'relispartition'
    | 'relhasrules'
    | 'updatable_mask'
  > {
  /** An index of an expression puts nulls last where descending, or first where ascending. */
  readonly hasUnusualNullOrder: boolean;
  /** Oid of the partitioned table that it is a partition of; null for others. */
  readonly partitionOf: string | null;
  /** A trigger may change or suppress rows before they are inserted. */
  readonly changesInserts: boolean;
  /** In column order. */
  getAttributes(): readonly CatalogColumn[];
  /**
   * Reading (or writing) it may run code that is not PostgreSQL's own: of a policy, trigger, view, type or expression.
   */
  readonly readsUserCode: boolean;
  readonly writesUserCode: boolean;
  /** What planning each use of it costs beside its name (planned-tables.ts). */
  readonly planningWeight: number;
  /** Its checks, foreign keys and exclusion constraints. */
  getConstraints(): readonly ConstraintColumns[];
  /** Unique ones only. */
  getIndexes(): readonly CatalogIndex[];
  /** Null for anything but an automatically updatable view without rules and triggers that replace inserts. */
  getBase(): ViewBase | null;
}

/** The columns that a constraint concerns; 0 stands for whole rows and expressions. */
export interface ConstraintColumns {
  readonly name: string;
  readonly columns: readonly number[];
}

/** A foreign key whose referenced table is in an exposed namespace; without those derived for partitions. */
export type CatalogForeignKey = Pick<
  PgConstraint,
  | '_id'
  | 'conname'
  | 'connamespace'
  | 'conrelid'
  | 'confrelid'
  | 'conkey'
  | 'confkey'
  | 'convalidated'
  | 'condeferrable'
>;

/** A type that an exposed column or routine uses, or an enum of an exposed namespace. */
export interface CatalogType
  extends Pick<
    PgType,
    | '_id'
    | 'typname'
    | 'typnamespace'
    | 'typtype'
    | 'typrelid'
    | 'typelem'
    | 'typarray'
    | 'typdelim'
    | 'typbasetype'
    | 'typtypmod'
    | 'typnotnull'
  > {
  /** What PostgreSQL has not for values of a base type that is no array: equality, and so no order, or an order alone. */
  readonly lacks: 'equality' | 'order' | null;
  /** Attributes of a composite type that belongs to no table, in order; empty for other types. */
  getAttributes(): readonly CompositeAttributeRow[];
  /** Labels in their sort order; empty for other types. */
  getEnumValues(): readonly Pick<PgEnum, 'enumlabel'>[];
  /** Names of the type's operators and of `min` and `max` in its own schema; base types outside `pg_catalog` only. */
  getOperators(): TypeOperators;
}

/** An attribute of a composite type. */
type CompositeAttributeRow = Pick<PgAttribute, 'attname' | 'atttypid' | 'atttypmod'>;

/** Comparisons of a type. */
export type TypeOperation =
  | 'lt' | 'lte' | 'eq' | 'gte' | 'gt' | 'like' | 'ilike' | 'regex' | 'iregex' | 'min' | 'max'; // biome-ignore format: a table of names

/** Name of the operator or aggregate by operation; missing ones are absent. */
export type TypeOperators = Partial<Readonly<Record<TypeOperation, string>>>;

/** A routine of any kind in an exposed namespace; `defaults` is `pg_get_expr` of all arguments, joined by commas. */
export type CatalogRoutine = { readonly defaults: string | null } & Pick<
  PgProc,
  | '_id' | 'proname' | 'pronamespace' | 'prokind' | 'prorettype' | 'proretset' | 'prorows' | 'provolatile' | 'provariadic'
  | 'pronargs' | 'pronargdefaults' | 'proargtypes' | 'proallargtypes' | 'proargmodes' | 'proargnames'
> & {
  /** Came with an extension. */
  readonly ofExtension: boolean;
  /** As of a table. */
  readonly planningWeight: number;
}; // biome-ignore format: a table of names

/** Privileges on a table or column that we use, as PostgreSQL's inquiry functions report them. */
export type Privilege = 'select' | 'insert' | 'update' | 'delete';

/** The privileges of one role, including inherited memberships, ownership, superuser and grants to PUBLIC. */
export interface RoleAccess {
  /** Settings of `alter role … set` that apply in this database and that the login role may set. */
  readonly settings: ReadonlyMap<string, string>;
  /** What its privileges depend on besides access lists: the same text if that is the same. */
  readonly sources: string;
  usesNamespace(namespace: string): boolean;
  /** On the whole table; column grants do not count. */
  hasTable(table: string, privilege: Privilege): boolean;
  /** On the column, by a grant on the column or the table. */
  hasColumn(table: string, column: number, privilege: Exclude<Privilege, 'delete'>): boolean;
  /** Whether it may draw numbers from the sequence that the column owns. */
  drawsNumbers(table: string, column: number): boolean;
  executes(routine: string): boolean;
  /** USAGE on the type; of an array, on its element. */
  usesType(type: string): boolean;
}

/** The kind of a commented object. */
export type CommentedObject = 'namespace' | 'table' | 'column' | 'constraint' | 'routine' | 'type';

/** Everything read from one database at one snapshot; immutable. */
export interface Catalog {
  /** Text of the `pg_snapshot` of all reads below. */
  readonly snapshot: string;
  /** Text of `readFingerprint` at that snapshot. */
  readonly fingerprint: string;
  /** The schema-change trigger is installed, enabled, and its table readable for the login role. */
  readonly hasChangeTrigger: boolean;
  /** `count(*) + sum(xmin)` of `pg_auth_members`; changes with every grant of a role. */
  readonly memberships: string;
  /** The same object in catalogs between which nothing has changed but tables and roles. */
  readonly common: object;
  /** Exposed namespaces that exist, in the order of the search path. */
  readonly namespaces: readonly CatalogNamespace[];
  /** In order of namespace, then oid. */
  readonly tables: readonly CatalogTable[];
  /** In order of oid. */
  readonly foreignKeys: readonly CatalogForeignKey[];
  /** In order of oid. */
  readonly routines: readonly CatalogRoutine[];
  /** Enums of exposed namespaces, in order of namespace, then oid. */
  readonly enums: readonly CatalogType[];
  /** Used domains of exposed namespaces, in the same order. */
  readonly domains: readonly CatalogType[];
  /** Composite types of exposed namespaces that routines use and that belong to no table, in the same order. */
  readonly composites: readonly CatalogType[];
  table(oid: string): CatalogTable | undefined;
  type(oid: string): CatalogType | undefined;
  routine(oid: string): CatalogRoutine | undefined;
  /** All routines that share a name in a namespace. */
  routinesNamed(namespace: string, name: string): readonly CatalogRoutine[];
  /** Also for types outside the exposed namespaces. */
  namespace(oid: string): CatalogNamespace | undefined;
  /** The columns of a table that have comments; null for none. */
  commentedColumns(table: string): Pick<ReadonlySet<number>, 'has'> | null;
  /** The comment of an object, including its directive; null for none. */
  comment(kind: CommentedObject, oid: string, column?: number): string | null;
  /** The comment directive of an object; `none` for most. */
  directive(kind: CommentedObject, oid: string, column?: number): CommentDirective;
  /** The schema `extensions` exists, and no caller may create objects there (sql/trusted-schemas.sql). */
  readonly trustsExtensions: boolean;
  /** Qualified name of the function to call before each request (sql/pre-request.sql); null: none. */
  readonly preRequest: string | null;
  /** By role name; without unknown roles and those not requested. */
  readonly roles: ReadonlyMap<string, RoleAccess>;
}

/** Schemas on the search path after the exposed ones. @param given By the option; null: `extensions`, where it is trusted. */
export function extraSchemas(
  { trustsExtensions }: Pick<Catalog, 'trustsExtensions'>,
  given: readonly string[] | null,
): readonly string[] {
  return given ?? (trustsExtensions ? ['extensions'] : []);
}
