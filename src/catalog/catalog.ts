/**
 * What was read from the catalog of one database at one snapshot: rows under PostgreSQL's own names, the comment
 * directives found in them, and what each asked role may do with them.
 *
 * The row types list only what sql/catalog.sql reads. Nothing here is decided for GraphQL: that is the model's business. Immutable once read.
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

/** A column with what is known of it beside its row. */
export interface CatalogColumn extends AttributeRow {
  /** It has a default, or its domain where it has none of its own; not generated and identity columns. */
  readonly hasDefault: boolean;
  /** It owns a sequence, as `serial`, identity or `owned by` make it. */
  readonly ownsSequence: boolean;
  /** An index has its nulls last where it descends or first where it ascends. */
  readonly hasUnusualNullOrder: boolean;
  /** Its type as `format_type` prints it; only for modified types outside `pg_catalog`, else null. */
  readonly declaredType: string | null;
}

/** A unique index. `indexprs` and `indpred` are null where there is none, else an empty text. */
export type CatalogIndex = Pick<
  PgIndex,
  | 'indexrelid'
  | 'indrelid'
  | 'indisprimary'
  | 'indisvalid'
  | 'indimmediate'
  | 'indkey'
  | 'indnkeyatts'
  | 'indexprs'
  | 'indpred'
>;

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
  /** In column order; empty for partitioned tables. */
  getAttributes(): readonly CatalogColumn[];
  /** Reading, or writing, it may run code that is not PostgreSQL's own: of a policy, trigger, view, type, expression. */
  readonly readsUserCode: boolean;
  readonly writesUserCode: boolean;
  /** Unique ones only. */
  getIndexes(): readonly CatalogIndex[];
}

/** A foreign key whose referenced table is in an exposed namespace; not those derived for its partitions. */
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
  /** Labels in their sort order; empty for other types. */
  getEnumValues(): readonly Pick<PgEnum, 'enumlabel'>[];
  /**
   * Names of the operators, and of the aggregates `min` and `max`, that belong to the type and are in its schema. Only of base
   * types outside `pg_catalog`.
   */
  getOperators(): TypeOperators;
}

/** What values of a type are compared by. */
export type TypeOperation =
  | 'lt' | 'lte' | 'eq' | 'gte' | 'gt' | 'like' | 'ilike' | 'regex' | 'iregex' | 'min' | 'max'; // biome-ignore format: a table of names

/** Name of the operator or aggregate by what it does; those that a type lacks are missing. */
export type TypeOperators = Partial<Readonly<Record<TypeOperation, string>>>;

/** A routine of any kind in an exposed namespace; `defaults` is `pg_get_expr` of all of its arguments, joined by commas as PostgreSQL does. */
export type CatalogRoutine = { readonly defaults: string | null } & Pick<
  PgProc,
  | '_id' | 'proname' | 'pronamespace' | 'prokind' | 'prorettype' | 'proretset' | 'prorows' | 'provolatile' | 'provariadic'
  | 'pronargs' | 'pronargdefaults' | 'proargtypes' | 'proallargtypes' | 'proargmodes' | 'proargnames'
> & {
  /** Came with an extension. */
  readonly ofExtension: boolean;
}; // biome-ignore format: a table of names

/** Privileges on a table or column, as PostgreSQL's inquiry functions report them; TRUNCATE and the like are not read. */
export type Privilege = 'select' | 'insert' | 'update' | 'delete';

/** What one role may do. Inherited memberships, ownership, superuser and grants to PUBLIC are already considered. */
export interface RoleAccess {
  /** Settings of `alter role … set` that apply in this database and that the login role may set. */
  readonly settings: ReadonlyMap<string, string>;
  usesNamespace(namespace: string): boolean;
  /** On the table as a whole; column grants do not count. */
  hasTable(table: string, privilege: Privilege): boolean;
  /** On the column, be it by a grant on the column or on the table. */
  hasColumn(table: string, column: number, privilege: Exclude<Privilege, 'delete'>): boolean;
  executes(routine: string): boolean;
  /** USAGE on the type; of an array, on its element. */
  usesType(type: string): boolean;
}

/** Which kind of object a comment is on. */
export type CommentedObject = 'namespace' | 'table' | 'column' | 'constraint' | 'routine' | 'type';

/** Everything that was read from one database at one snapshot; immutable. */
export interface Catalog {
  /** Text of the `pg_snapshot` that everything below was read with. */
  readonly snapshot: string;
  /** Text of `readFingerprint` at that snapshot. */
  readonly fingerprint: string;
  /** The schema-change trigger is installed, enabled, and its table readable for the login role. */
  readonly watched: boolean;
  /** `count(*) + sum(xmin)` of `pg_auth_members`; moves with every grant of a role. */
  readonly memberships: string;
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
  /** Domains of exposed namespaces that something uses, likewise. */
  readonly domains: readonly CatalogType[];
  table(oid: string): CatalogTable | undefined;
  type(oid: string): CatalogType | undefined;
  /** Also of types outside the exposed namespaces. */
  namespace(oid: string): CatalogNamespace | undefined;
  /** The comment of an object, with its directive; null without one. */
  comment(kind: CommentedObject, oid: string, column?: number): string | null;
  /** The comment directive of an object; `none` for the many without one. */
  directive(kind: CommentedObject, oid: string, column?: number): CommentDirective;
  /** By role name; roles that were not asked for or do not exist are missing. */
  readonly roles: ReadonlyMap<string, RoleAccess>;
}
