/**
 * From a declared PostgreSQL type to how its values travel, for one role.
 *
 * Domains are not resolved to their base type; only what they stand on decides whether they can be exposed at all.
 */
import type { CatalogType } from '../catalog/catalog.ts';
import { codecOf } from './codecs.ts';
import type { EnumTypes } from './enums.ts';
import type { EnumValueType, OwnOperators, ScalarValueType, SqlType, ValueType } from './model.ts';
import type { ModelContext } from './model-context.ts';

/** A type as a column or argument declares it. */
export interface DeclaredType {
  readonly oid: string;
  /** `atttypmod`; -1 for none and for arguments. */
  readonly typmod: number;
  /** Text of `format_type` for modified types outside `pg_catalog`, else null. */
  readonly text: string | null;
}

/** Resolves the types of one model; answers are remembered, because most columns share a few types. */
export interface TypeResolver {
  /** How the type travels; null when it cannot be exposed. */
  value(declared: DeclaredType): ValueType | null;
  /** The declared type for casts, also of types that cannot be exposed. */
  cast(declared: DeclaredType): SqlType;
}

/** A resolver for the enums that made it into the schema. */
export function createTypeResolver(context: ModelContext, enums: EnumTypes): TypeResolver {
  const values = new Map<string, ValueType | null>();
  const casts = new Map<string, SqlType>();
  const cast = (declared: DeclaredType): SqlType =>
    remember(casts, keyOf(declared), () => toSqlType(context, declared));
  const value = (declared: DeclaredType): ValueType | null =>
    remember(values, keyOf(declared), () => toValueType(context, enums, declared, cast));
  return { value, cast };
}

function keyOf({ oid, typmod, text }: DeclaredType): string {
  return `${oid}|${typmod}|${text ?? ''}`;
}

function remember<T>(known: Map<string, T>, key: string, make: () => T): T {
  const before = known.get(key);
  if (before !== undefined) return before;
  const made = make();
  known.set(key, made);
  return made;
}

function toSqlType({ catalog }: ModelContext, declared: DeclaredType): SqlType {
  const type = catalog.type(declared.oid);
  const namespace = catalog.namespace(type?.typnamespace ?? '')?.nspname ?? 'pg_catalog';
  const name = type?.typname ?? 'text';
  const element = elementOf(catalog.type, type);
  const base = element ?? type;
  const baseNamespace = catalog.namespace(base?.typnamespace ?? '')?.nspname ?? '';
  const isBuiltIn = baseNamespace === 'pg_catalog';
  const limited = isBuiltIn && codecOf(baseNamespace, base?.typname ?? '').lengthLimited;
  return {
    namespace,
    name,
    oid: declared.oid,
    modifier: typeModifier(isBuiltIn ? (base?.typname ?? '') : null, declared),
    maxLength: limited ? lengthOf(declared.typmod) : domainLength(catalog.type, base),
    blankPadded: isBuiltIn && base?.typname === 'bpchar',
    fromTexts: element !== null && element.typdelim !== ',',
    arrays: element !== null ? 'itself' : type !== undefined && type.typarray !== '0' ? 'of_it' : null,
    own: type === undefined ? null : ownOperators(catalog, type),
  };
}

function ownOperators(catalog: ModelContext['catalog'], type: CatalogType): OwnOperators | null {
  const base = baseOf(catalog.type, type);
  const namespace = catalog.namespace(base.typnamespace ?? '')?.nspname ?? 'pg_catalog';
  if (base.typtype !== 'b' || namespace === 'pg_catalog' || elementOf(catalog.type, base) !== null) return null;
  return { type: { namespace, name: base.typname }, isDomain: base !== type, names: base.getOperators() };
}

function lengthOf(typmod: number): number | null {
  return typmod > 4 ? typmod - 4 : null;
}

// A cast to a domain over `varchar(n)` cuts what is too long without a word; a value is never cut.
function domainLength(lookUp: (oid: string) => CatalogType | undefined, type: CatalogType | undefined): number | null {
  for (let domain = type; domain?.typtype === 'd'; domain = lookUp(domain.typbasetype ?? '')) {
    const base = lookUp(domain.typbasetype ?? '');
    const isLimited = base?.typtype === 'b' && codecOf('pg_catalog', base.typname).lengthLimited;
    if (isLimited) return lengthOf(domain.typtypmod ?? -1);
  }
  return null;
}

/** The element type of a true array, null for anything else (`point` and `int2vector` have elements too). */
export function elementOf(
  lookUp: (oid: string) => CatalogType | undefined,
  type: CatalogType | undefined,
): CatalogType | null {
  const element = type?.typelem ? lookUp(type.typelem) : undefined;
  return element !== undefined && element.typarray === type?._id ? element : null;
}

function toValueType(
  context: ModelContext,
  enums: EnumTypes,
  declared: DeclaredType,
  cast: (declared: DeclaredType) => SqlType,
): ValueType | null {
  const { catalog, access } = context;
  const type = catalog.type(declared.oid);
  if (type === undefined || !access.usesNamespace(type.typnamespace)) return null;
  const element = elementOf(catalog.type, type);
  if (element === null) return singleValue(context, enums, type, cast(declared));
  if (!access.usesNamespace(element.typnamespace) || !access.usesType(element._id)) return null;
  const single = singleValue(context, enums, element, cast({ ...declared, oid: element._id }));
  return single && { kind: 'list', element: single, cast: cast(declared) };
}

function singleValue(
  { catalog }: ModelContext,
  enums: EnumTypes,
  type: CatalogType,
  cast: SqlType,
): ScalarValueType | EnumValueType | null {
  switch (type.typtype) {
    case 'c':
    case 'p':
      return null;
    case 'e':
      if (enums.has(type._id)) return { kind: 'enum', enum: type._id, cast };
      return { kind: 'scalar', scalar: 'Opaque', cast };
    case 'd':
      if (isDomainOverArray(catalog.type, type)) return null;
      break;
    default:
  }
  return { kind: 'scalar', scalar: codecOf(cast.namespace, cast.name).scalar, cast };
}

function isDomainOverArray(lookUp: (oid: string) => CatalogType | undefined, domain: CatalogType): boolean {
  const base = baseOf(lookUp, domain);
  return elementOf(lookUp, base) !== null;
}

/** The type at the bottom of a domain; the type itself where it is none. */
export function baseOf(lookUp: (oid: string) => CatalogType | undefined, type: CatalogType): CatalogType {
  let base = type;
  while (base.typtype === 'd') {
    const next = base.typbasetype ? lookUp(base.typbasetype) : undefined;
    if (next === undefined) break;
    base = next;
  }
  return base;
}

/** Modifiers of `pg_catalog` types from their encoding in `atttypmod`. */
const decoders: Readonly<Record<string, (typmod: number) => string>> = {
  varchar: (typmod) => String(typmod - 4),
  bpchar: (typmod) => String(typmod - 4),
  numeric: (typmod) => `${((typmod - 4) >> 16) & 0xffff},${(((typmod - 4) & 0x7ff) ^ 0x400) - 0x400}`,
  bit: String,
  varbit: String,
  time: String,
  timetz: String,
  timestamp: String,
  timestamptz: String,
  interval: (typmod) => {
    const fields = (typmod >> 16) & 0x7fff;
    const precision = typmod & 0xffff;
    return precision === 0xffff ? String(fields) : `${fields},${precision}`;
  },
};

/**
 * The modifier as it can be written behind the catalog's own name of the type, `8,2` for `numeric(8,2)`; null without one. Computed
 * from `atttypmod`, because what `format_type` prints belongs to another spelling: `interval(3)` is
 * `pg_catalog.interval(32767,3)` under its own name.
 *
 * @param builtIn Name of the `pg_catalog` type, or of the element for arrays; null for types of other namespaces. Theirs
 *   are taken from the printed type, and only when they are numbers: `geometry(Point,4326)` is cast without.
 */
function typeModifier(builtIn: string | null, declared: DeclaredType): string | null {
  if (declared.typmod === -1) return null;
  if (builtIn === null) return /\(([-\d][-\d, ]*)\)(?:\[\])?$/.exec(declared.text ?? '')?.[1] ?? null;
  return Object.hasOwn(decoders, builtIn) ? (decoders[builtIn]?.(declared.typmod) ?? null) : null;
}
