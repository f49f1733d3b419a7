/**
 * The scalars of every schema, one row each: their filters, and how their values become JSON. A new scalar is a row here,
 * its input (graphql/schema/types/scalars.ts) and the types that it stands for (codecs.ts).
 *
 * No member of a row may be left out: a forgotten form would be a slow way to make JSON, or pages without fast cursors.
 */

/**
 * Kinds of filters: of `ID`, of values with an equality that is all they have, of values that `in` also finds, of ordered
 * values, of text, of lists, and of JSON (graphql/schema/operators.ts).
 */
export type FilterKind = 'id' | 'equality' | 'membership' | 'ordered' | 'text' | 'list' | 'json';

/**
 * How PostgreSQL's text of a column becomes JSON.
 *
 * - `json`: it is JSON.
 * - `text`: a string; escapes are added.
 * - `quoted`: a string without escapes.
 * - `number`: a number, or a string for values that JSON numbers lack (NaN, infinities).
 * - `boolean`: `t` or `f`.
 */
export type ColumnForm = 'json' | 'text' | 'quoted' | 'number' | 'boolean';

interface ScalarRow {
  /** Null: filtered in another way, or not. */
  readonly filter: FilterKind | null;
  /** Whether lists of it have a filter. */
  readonly inLists: boolean;
  /** Whether an update can add to it. */
  readonly increments: boolean;
  /** In JSON that PostgreSQL makes: itself, its text, the text of its JSON, or as `jsonb`. */
  readonly output: 'itself' | 'text' | 'json_text' | 'jsonb';
  /** A column in an answer; null: PostgreSQL makes its JSON. */
  readonly form: ColumnForm | null;
  /** In a cursor, which must equal `jsonb`'s text; null: cursors of it are made by PostgreSQL. */
  readonly cursorForm: ColumnForm | null;
  /** Except as JSON, its text depends on settings of the role. */
  readonly dependsOnSettings: boolean;
  /** Most bytes of its JSON; null: as long as the value is. */
  readonly maxBytes: number | null;
}

const plain = { inLists: true, increments: false, output: 'itself', dependsOnSettings: false } as const;
const special = {
  inLists: false,
  increments: false,
  output: 'itself',
  form: null,
  cursorForm: null,
  dependsOnSettings: false,
  maxBytes: null,
} as const;

const scalars = {
  ID: { ...special, filter: 'id' },
  Int: { ...plain, filter: 'ordered', increments: true, form: 'json', cursorForm: 'json', maxBytes: 11 },
  // `jsonb` expands the digits of floats.
  Float: { ...plain, filter: 'ordered', increments: true, form: 'number', cursorForm: null, maxBytes: 24 },
  String: { ...plain, filter: 'text', form: 'text', cursorForm: 'text', maxBytes: null },
  Boolean: { ...plain, filter: 'equality', form: 'boolean', cursorForm: 'boolean', maxBytes: 5 },
  Date: { ...plain, filter: 'ordered', form: null, cursorForm: 'json', dependsOnSettings: true, maxBytes: 17 },
  Time: { ...plain, filter: 'ordered', form: 'quoted', cursorForm: 'quoted', maxBytes: 24 },
  Datetime: { ...plain, filter: 'ordered', form: null, cursorForm: 'json', dependsOnSettings: true, maxBytes: 40 },
  BigInt: {
    ...plain,
    filter: 'ordered',
    increments: true,
    output: 'text',
    form: 'quoted',
    cursorForm: 'json',
    maxBytes: 22,
  },
  UUID: { ...plain, filter: 'membership', form: 'quoted', cursorForm: 'quoted', maxBytes: 38 },
  JSON: { ...special, filter: null, output: 'json_text' },
  /** `JSON` where it travels as a value: PostgreSQL's text of `json` and `jsonb` is JSON. */
  JSONValue: { ...special, filter: null, form: 'json' },
  Cursor: { ...special, filter: null },
  BigFloat: {
    ...plain,
    filter: 'ordered',
    increments: true,
    output: 'text',
    form: 'quoted',
    cursorForm: 'number',
    maxBytes: null,
  },
  Opaque: { ...special, filter: 'equality', output: 'jsonb' },
} as const satisfies Readonly<Record<string, ScalarRow>>;

/** Name of a scalar; of `JSON`, one for each way in which it travels. */
export type ScalarName = keyof typeof scalars;

/** Names of all scalars that clients see. */
export const scalarNames = (Object.keys(scalars) as readonly ScalarName[]).filter((name) => name !== 'JSONValue');

/** What code knows of a scalar. */
export function scalarRow(scalar: ScalarName): ScalarRow {
  return scalars[scalar];
}
