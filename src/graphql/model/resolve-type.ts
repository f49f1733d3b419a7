/**
 * Maps a declared PostgreSQL type to its encoding, for one role.
 *
 * Domains are not replaced by their base type, which only decides whether they can be exposed. With the extension
 * `reads`, they are encoded as the base type, if the role may use that.
 */
import type { CatalogType } from '../catalog/catalog.ts';
import { codecOf } from './codecs.ts';
import { readSettings } from './comments/directive-settings.ts';
import type { EnumTypes } from './enums.ts';
import type { EnumValueType, OwnOperators, ScalarValueType, SqlType, ValueType, ZonePlace } from './model.ts';
import type { ContextNamespace, ModelContext } from './model-context.ts';
import { baseOf, elementOf } from './sql-types.ts';

/** The declared type of a column or argument. */
interface DeclaredType {
  readonly oid: string;
  /** `atttypmod`; -1 for none and for arguments. */
  readonly typmod: number;
  /** Text of `format_type` for modified types outside `pg_catalog`, otherwise null. */
  readonly text: string | null;
}

/** A type without a modifier. */
export const unmodified = (oid: string): DeclaredType => ({ oid, typmod: -1, text: null });

/** Resolves the types of one model, with a cache, because most columns share a few types. */
export interface TypeResolver {
  /** The type's encoding; null if it cannot be exposed. */
  value(declared: DeclaredType): ValueType | null;
  /** The declared type for casts, even if it cannot be exposed. */
  cast(declared: DeclaredType): SqlType;
  /** Whether a domain that is encoded as its base type refuses null. */
  isNeverNull(declared: DeclaredType): boolean;
}

/** The resolver for objects of a namespace; null: as in pg_graphql, without extensions. */
export type TypeResolvers = (namespace: ContextNamespace | null) => TypeResolver;

/** Resolvers for the schema's enums. */
export function createTypeResolvers(context: ModelContext, enums: EnumTypes): TypeResolvers {
  const make = (form: TypeForm) => createTypeResolver(context, enums, form);
  const plain = make({ resolvesDomains: false, json: 'JSON' });
  const [texts, values] = (['JSON', 'JSONValue'] as const).map((json) => make({ resolvesDomains: true, json }));
  return (namespace) => {
    if (!namespace?.extensions.includes('reads')) return plain;
    return namespace.jsonValues ? values! : texts!;
  };
}

/** How types of a namespace are encoded. */
interface TypeForm {
  readonly resolvesDomains: boolean;
  readonly json: 'JSON' | 'JSONValue';
}

function createTypeResolver(
  context: ModelContext,
  enums: EnumTypes,
  { resolvesDomains, json }: TypeForm,
): TypeResolver {
  const values = new Map<string, ValueType | null>();
  const casts = new Map<string, SqlType>();
  const cast = (declared: DeclaredType): SqlType =>
    remember(casts, keyOf(declared), () => {
      const domain = resolvesDomains ? catalogDomain(context, declared) : null;
      const type = toSqlType(context, declared);
      if (domain === null) return type;
      const base = toSqlType(context, domain);
      const { blankPadded, fromTexts } = base;
      return { ...type, base, blankPadded, fromTexts, maxLength: type.maxLength ?? base.maxLength };
    });
  const value = (declared: DeclaredType): ValueType | null =>
    remember(values, keyOf(declared), () => travelling(toValueType(context, enums, declared, cast), json));
  const isNeverNull = (declared: DeclaredType) => cast(declared).base !== null && refusesNull(context, declared.oid);
  return { value, cast, isNeverNull };
}

/** The type with JSON as it travels. */
function travelling(type: ValueType | null, json: TypeForm['json']): ValueType | null {
  if (type?.kind === 'list' && type.element.kind === 'scalar' && type.element.scalar === 'JSON')
    return { ...type, element: { ...type.element, scalar: json } };
  return type?.kind === 'scalar' && type.scalar === 'JSON' ? { ...type, scalar: json } : type;
}

function refusesNull({ catalog }: Pick<ModelContext, 'catalog'>, oid: string): boolean {
  const type = catalog.type(oid);
  return type?.typtype === 'd' && (type.typnotnull === true || refusesNull({ catalog }, type.typbasetype ?? ''));
}

/** The base type that a domain is encoded as, if the role may use that; otherwise null. */
function catalogDomain({ catalog, access }: ModelContext, { oid }: DeclaredType): DeclaredType | null {
  let type = catalog.type(oid);
  let typmod = -1;
  if (type?.typtype !== 'd') return null;
  while (type?.typtype === 'd') {
    if (readSettings(catalog, 'type', type._id).settings.opaque) return null;
    if (typmod === -1) typmod = type.typtypmod ?? -1;
    type = catalog.type(type.typbasetype ?? '');
  }
  const single = elementOf(catalog.type, type) ?? type;
  const isNamed = [type, single].every((each) => each !== undefined && access.usesNamespace(each.typnamespace));
  return type && isNamed && 'berm'.includes(single?.typtype ?? '') ? { oid: type._id, typmod, text: null } : null;
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
    zones: type === undefined ? null : zonesIn(catalog, type),
    base: null,
    lacks: type === undefined ? null : lackOf(catalog, type),
    own: type === undefined ? null : ownOperators(catalog, type),
  };
}

const withZones: ReadonlySet<string> = new Set(['date', 'time', 'timetz', 'timestamp', 'timestamptz']);

/** By type, because composite types may contain the same type many times; of a catalog, because tables are such types, too. */
const knownZones = new WeakMap<ModelContext['catalog'], Map<string, ZonePlace | null>>();

function zonesIn(catalog: ModelContext['catalog'], type: CatalogType): ZonePlace | null {
  const known = knownZones.get(catalog) ?? new Map<string, ZonePlace | null>();
  knownZones.set(catalog, known);
  const found = known.get(type._id);
  if (found !== undefined) return found;
  const zones = findZones(catalog, baseOf(catalog.type, type));
  known.set(type._id, zones);
  return zones;
}

/** Whether it is a composite type, or made of one: then it may change with another table. */
export function isOfComposite(catalog: ModelContext['catalog'], oid: string): boolean {
  const type = catalog.type(oid);
  const base = type && baseOf(catalog.type, type);
  const element = base && elementOf(catalog.type, base);
  return base?.typtype === 'c' || (element != null && isOfComposite(catalog, element._id));
}

/** Dates and times, and what contains them. Every range counts: those of numbers have no words, so nothing is found in them. */
function findZones(catalog: ModelContext['catalog'], type: CatalogType): ZonePlace | null {
  if (type.typtype === 'r' || type.typtype === 'm') return 'anywhere';
  const element = elementOf(catalog.type, type);
  if (element !== null) return zonesIn(catalog, element);
  if (type.typtype === 'c') return zonesInAttributes(catalog, type);
  const isBuiltIn = catalog.namespace(type.typnamespace)?.nspname === 'pg_catalog';
  return isBuiltIn && withZones.has(type.typname) ? 'anywhere' : null;
}

function zonesInAttributes(catalog: ModelContext['catalog'], type: CatalogType): ZonePlace | null {
  const parts = attributeTypes(catalog, type);
  // Of a table that is not exposed.
  if (parts.length === 0) return 'anywhere';
  const zones = parts.map((part) => (part === undefined ? 'anywhere' : zonesIn(catalog, part)));
  return zones.every((attribute) => attribute === null) ? null : zones;
}

/** An array is compared by its elements, a composite value by its attributes. */
function lackOf(catalog: ModelContext['catalog'], type: CatalogType): SqlType['lacks'] {
  const base = baseOf(catalog.type, type);
  const element = elementOf(catalog.type, base);
  if (element !== null) return lackOf(catalog, element);
  if (base.typtype !== 'c') return base.lacks;
  const lacking = attributeTypes(catalog, base).map((part) => (part === undefined ? null : lackOf(catalog, part)));
  return lacking.includes('equality') ? 'equality' : lacking.includes('order') ? 'order' : null;
}

/** Of a composite type; undefined for those that were not read. */
function attributeTypes(catalog: ModelContext['catalog'], type: CatalogType): readonly (CatalogType | undefined)[] {
  const own = type.getAttributes();
  const parts = own.length > 0 ? own : (catalog.table(type.typrelid ?? '0')?.getAttributes() ?? []);
  return parts.map(({ atttypid }) => catalog.type(atttypid));
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

// A cast to a domain over `varchar(n)` silently truncates; a value must never be truncated.
function domainLength(lookUp: (oid: string) => CatalogType | undefined, type: CatalogType | undefined): number | null {
  for (let domain = type; domain?.typtype === 'd'; domain = lookUp(domain.typbasetype ?? '')) {
    const base = lookUp(domain.typbasetype ?? '');
    const isLimited = base?.typtype === 'b' && codecOf('pg_catalog', base.typname).lengthLimited;
    if (isLimited) return lengthOf(domain.typtypmod ?? -1);
  }
  return null;
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
  const own = cast(declared);
  if (own.base !== null) {
    const value = toValueType(context, enums, unmodified(own.base.oid), cast);
    return value && { ...value, cast: own };
  }
  const element = elementOf(catalog.type, type);
  if (element === null) return singleValue(context, enums, type, own);
  if (!access.usesNamespace(element.typnamespace) || !access.usesType(element._id)) return null;
  const single = singleValue(context, enums, element, cast({ ...declared, oid: element._id }));
  return single && { kind: 'list', element: single, cast: own };
}

function singleValue(
  context: ModelContext,
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
      if (isDomainOverArray(context.catalog.type, type)) return null;
      if (cast.base !== null) {
        const value = singleValue(context, enums, context.catalog.type(cast.base.oid)!, cast.base);
        return value && { ...value, cast };
      }
      break;
    default:
  }
  return { kind: 'scalar', scalar: codecOf(cast.namespace, cast.name).scalar, cast };
}

function isDomainOverArray(lookUp: (oid: string) => CatalogType | undefined, domain: CatalogType): boolean {
  const base = baseOf(lookUp, domain);
  return elementOf(lookUp, base) !== null;
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
 * The modifier for the catalog's own name of the type, `8,2` for `numeric(8,2)`; null for none. Computed from
 * `atttypmod`, because `format_type` prints another spelling: `interval(3)` is `pg_catalog.interval(32767,3)`.
 *
 * @param builtIn Name of the `pg_catalog` type, or of an array's element; null for types of other namespaces. Those
 *   modifiers come from the printed type, if numeric: `geometry(Point,4326)` is cast without one.
 */
function typeModifier(builtIn: string | null, declared: DeclaredType): string | null {
  if (declared.typmod === -1) return null;
  if (builtIn === null) return /\(([-\d][-\d, ]*)\)(?:\[\])?$/.exec(declared.text ?? '')?.[1] ?? null;
  return Object.hasOwn(decoders, builtIn) ? (decoders[builtIn]?.(declared.typmod) ?? null) : null;
}
