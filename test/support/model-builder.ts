/**
 * Models made by hand, for tests of what is built from a model. Only what a test is about needs to be said.
 */
import type {
  Column,
  EnumType,
  Model,
  Relationship,
  Routine,
  SqlType,
  Table,
  ValueType,
} from '../../src/graphql/model/model.ts';
import type { ScalarName } from '../../src/graphql/model/scalars.ts';

const anyCast: SqlType = {
  oid: '25',
  namespace: 'pg_catalog',
  name: 'text',
  modifier: null,
  maxLength: null,
  blankPadded: false,
  fromTexts: false,
  arrays: 'of_it',
  zones: null,
  base: null,
  lacks: null,
  own: null,
};

/** A scalar value type. */
export function scalar(name: ScalarName): Extract<ValueType, { kind: 'scalar' }> {
  return { kind: 'scalar', scalar: name, cast: anyCast };
}

/** A list of a scalar. */
export function listOf(name: ScalarName): ValueType {
  return { kind: 'list', element: scalar(name), cast: anyCast };
}

/** A value of an enum, by the oid of its type. */
export function enumValue(oid: string): Extract<ValueType, { kind: 'enum' }> {
  return { kind: 'enum', enum: oid, cast: anyCast };
}

/** A readable and writable column; filterable unless JSON, orderable unless JSON or a list. */
export function column(fieldName: string | null, type: ValueType | ScalarName, change: Partial<Column> = {}): Column {
  const value = typeof type === 'string' ? scalar(type) : type;
  const isJson = value.kind === 'scalar' && value.scalar === 'JSON';
  return {
    number: 0,
    name: fieldName ?? 'in valid',
    fieldName,
    description: null,
    type: value,
    cast: anyCast,
    notNull: false,
    neverNull: change.notNull === true,
    defaultNullOrder: false,
    nondeterministicCollation: null,
    hasNoNulls: false,
    generatedKey: false,
    added: false,
    readable: true,
    filterable: !isJson,
    orderable: !isJson && value.kind !== 'list',
    insertable: true,
    updatable: true,
    selectable: true,
    hasDefault: false,
    earlyDefault: null,
    sum: null,
    avg: null,
    min: null,
    max: null,
    bool: null,
    ...change,
  };
}

/** A table of namespace `lib` with every entrypoint; its key is the first column. */
export function table(oid: string, baseName: string, columns: readonly Column[], change: Partial<Table> = {}): Table {
  return {
    namespace: 'lib',
    name: baseName.toLowerCase(),
    oid,
    kind: 'table',
    added: false,
    baseName,
    description: null,
    maxRows: 30,
    totalCount: false,
    exactCursors: false,
    unreadWrites: false,
    aggregate: false,
    exactNumbers: false,
    rowSecurity: false,
    columns: columns.map((c, index) => ({ ...c, number: index + 1 })),
    visibleConstraints: null,
    primaryKey: [1],
    readsUserCode: false,
    planningWeight: 0,
    writesUserCode: false,
    hasRules: false,
    changesInserts: false,
    defaultNullOrder: true,
    uniqueKey: true,
    byPk: true,
    rootField: true,
    insert: true,
    update: true,
    delete: true,
    updateMany: false,
    relationships: [],
    computedFields: [],
    filterFunctions: [],
    orderFunctions: [],
    conflictTargets: [],
    keys: [],
    rowWrites: [],
    addedTypes: [],
    sharedTypes: [],
    ...change,
  };
}

/** A relationship over the first columns; nullable. */
export function relationship(
  fieldName: string,
  target: string,
  cardinality: 'one' | 'many',
  change: Partial<Relationship> = {},
): Relationship {
  const direction = cardinality === 'one' ? 'outbound' : 'inbound';
  const pairs = [{ local: 1, foreign: 1 }];
  const unique = cardinality === 'one';
  return {
    id: fieldName,
    direction,
    fieldName,
    added: false,
    cardinality,
    nullable: true,
    target,
    pairs,
    through: null,
    unique,
    enforced: false,
    required: false,
    filterable: false,
    orderable: false,
    groupable: false,
    insertable: false,
    updatable: false,
    ...change,
  };
}

/** An enum of namespace `lib`; a pair is a label and its GraphQL name, null for none. */
export function enumType(
  oid: string,
  graphqlName: string,
  values: readonly (string | readonly [label: string, graphqlName: string | null])[],
  change: Partial<EnumType> = {},
): EnumType {
  const pairs = values.map((v) => (typeof v === 'string' ? ([v, v] as const) : v));
  return {
    namespace: 'lib',
    name: graphqlName.toLowerCase(),
    oid,
    graphqlName,
    values: pairs.map(([label, name]) => ({ label, graphqlName: name })),
    mapped: pairs.some(([label, name]) => label !== name),
    hasListFilter: false,
    ...change,
  };
}

/** A stable routine of namespace `lib` without arguments that returns a string. */
export function routine(oid: string, fieldName: string, change: Partial<Routine> = {}): Routine {
  return {
    namespace: 'lib',
    name: fieldName,
    oid,
    use: 'query',
    fieldName,
    description: null,
    added: false,
    volatility: 'stable',
    planningWeight: 0,
    returnsSet: false,
    result: { kind: 'value', type: scalar('String') },
    arguments: [],
    table: null,
    ...change,
  };
}

interface Parts {
  readonly tables?: readonly Table[];
  readonly enums?: readonly EnumType[];
  readonly routines?: readonly Routine[];
  /** Names of namespaces; with a `+` behind it has opted in to introspection. Default: `lib+`. */
  readonly namespaces?: readonly string[];
}

/** A model of these parts. */
export function model({ tables = [], enums = [], routines = [], namespaces = ['lib+'] }: Parts): Model {
  return {
    namespaces: namespaces.map((name) => ({
      name: name.replace('+', ''),
      inflectNames: true,
      introspection: name.endsWith('+'),
      extensions: [],
      jsonValues: false,
    })),
    tables: new Map(tables.map((t) => [t.oid, t])),
    writeOnly: [],
    enums: new Map(enums.map((e) => [e.oid, e])),
    routines: new Map(routines.map((r) => [r.oid, r])),
    composites: new Map(),
    addedTypes: [],
    directiveError: null,
  };
}

/** The sample of the manual: patrons, volumes and loans, for a role that may do everything. */
export function libraryModel(): Model {
  const patron = table('1', 'Patron', [
    column('id', 'BigInt', { notNull: true, insertable: false, updatable: false }),
    column('fullName', 'String', { notNull: true }),
    column('sponsorId', 'BigInt'),
  ]);
  const volume = table('2', 'Volume', [
    column('shelfMark', 'String', { notNull: true }),
    column('title', 'String', { notNull: true }),
    column('tags', listOf('String'), { notNull: true }),
    column('acquiredOn', 'Date'),
  ]);
  const loan = table(
    '3',
    'Loan',
    [
      column('patronId', 'BigInt', { notNull: true }),
      column('shelfMark', 'String', { notNull: true }),
      column('seq', 'Int', { notNull: true }),
      column('dueOn', 'Date'),
      column('fee', 'BigFloat'),
      column('state', enumValue('9'), { notNull: true }),
    ],
    { primaryKey: [1, 2, 3] },
  );
  const tables = [
    { ...patron, relationships: [relationship('sponsor', '1', 'one'), relationship('patronCollection', '1', 'many')] },
    { ...volume, relationships: [relationship('loanCollection', '3', 'many')] },
    {
      ...loan,
      relationships: [
        relationship('patron', '1', 'one', { nullable: false }),
        relationship('volume', '2', 'one', { nullable: false }),
      ],
    },
  ];
  return model({ tables, enums: [enumType('9', 'LoanState', ['out', 'returned', 'lost'])] });
}
