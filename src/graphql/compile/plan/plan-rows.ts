/**
 * The objects to insert: those of a variable, whose number is not part of the plan, or those in the document.
 *
 * Refuses empty or too different `objects`, and strings over the declared length.
 */
import { type GraphQLInputObjectType, getNamedType, getNullableType, isListType } from 'graphql';
import { badInput, PublicError } from '../../../shared/errors.ts';
import { invariant } from '../../../shared/invariant.ts';
import type { Column } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { placesText, presenceText } from '../input/composite-text.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { patternOf, patternsOf } from '../input/row-keys.ts';
import { areSparse } from '../input/shape.ts';
import type { Path, RowKey, Slot } from '../input/slot.ts';
import { distinct } from '../input/variable-path.ts';
import { agreedConflict, memberType, sameConflict } from './agreed-conflict.ts';
import { isAlike, isShared, type KnownRows } from './known-rows.ts';
import type { LimitPlan } from './plan.ts';
import { type ConnectedRows, documentConnected, type NestedField, variableConnected } from './plan-connected.ts';
import { planValue, refuseLength } from './plan-operator.ts';

/** A column that objects may set, under its name in them. */
interface InsertableColumn {
  readonly column: Column;
  readonly fieldName: string;
}

/** What is known of the objects. */
export interface PlannedRows {
  readonly columns: readonly InsertableColumn[];
  readonly nested: readonly NestedField[];
  /** Occurring field names, and whether every object has them. */
  readonly keys: ReadonlyMap<string, 'all' | 'some'>;
  readonly count: LimitPlan;
  /** Their place for messages, as text or as a path into the variables. */
  readonly place: string | Path;
  /** Which of the keys each object has (`patternsOf`). */
  patterns(keys: readonly RowKey[]): readonly string[];
  values(fieldName: string, isList: boolean): Slot;
  /** The value of a key in one of them. */
  value(index: number, fieldName: string, isList: boolean): Slot;
  /** Which objects have a key. */
  presence(key: RowKey): Slot;
  /** The related rows under a key; null for none. Refuses an object that has one of `columns` too. */
  related(nested: NestedField, columns: readonly string[]): LinkedRows | null;
  /** The error for a column that the objects must not have. */
  refuseColumn(fieldName: string, nested: NestedField): PublicError;
}

/** Related rows of objects: those to insert, and those that are there, by key. */
interface LinkedRows {
  /** @param known Rows that steps before have inserted. */
  inserted(known: readonly KnownRows[]): InsertedRows;
  readonly connected: readonly ConnectedRows[];
  /** Every object has some. */
  readonly isEvery: boolean;
}

/** Objects that are inserted, and equal ones that steps before have inserted. */
interface InsertedRows {
  readonly objects: RelatedObjects | null;
  /** For each of the objects they are nested in, the number of its row in the other step, from 1, or null. */
  readonly elsewhere: readonly { readonly step: number; readonly places: Slot }[];
}

/** Objects nested in others. */
export interface RelatedObjects {
  readonly rows: PlannedRows;
  /** For each of them, the number of the object that it is nested in, from 1. */
  readonly parents: Slot;
  /** For each of the others, the number of its nested one, from 1, or null. */
  readonly links: Slot;
  /** Their *B*`OnConflict`; null: they have none. */
  readonly onConflict: Input | null;
  /** What tells equal ones at other places; null: they share no row. */
  readonly known: Omit<KnownRows, 'step'> | null;
}

/** The objects of an insert: a list, or a single one. */
export function planObjects(objects: Input): PlannedRows {
  objects.requireValue();
  const items = () => (isListType(getNullableType(objects.type)) ? [...objects.items()] : [objects]);
  const rows = objects.path() === null ? planRows(items(), objects.type, 'objects[*]') : planVariableRows(objects);
  if (rows === null) throw badInput('At least one record must be provided to objects');
  return rows;
}

function readType(type: Input['type']): Pick<PlannedRows, 'columns' | 'nested'> {
  const columns: InsertableColumn[] = [];
  const nested: NestedField[] = [];
  for (const field of Object.values((getNamedType(type) as GraphQLInputObjectType).getFields())) {
    const origin = inputFieldOrigin(field);
    if (origin.kind === 'nested') nested.push({ field, ...origin });
    else {
      invariant(origin.kind === 'column', 'insert inputs hold columns and related rows');
      columns.push({ column: origin.column, fieldName: field.name });
    }
  }
  return { columns, nested };
}

/** Names of the keys that the database generates where an object has null or nothing. */
function generatedIn(columns: readonly InsertableColumn[]): readonly string[] {
  return columns.flatMap(({ column, fieldName }) => (column.generatedKey ? [fieldName] : []));
}

/**
 * The objects of a variable, described together: occurring keys, and whether all objects have them. Their number is not
 * part of the shape, so inserts of any size share one text. Null for none.
 */
function planVariableRows(objects: Input): PlannedRows | null {
  const { columns, nested } = readType(objects.type);
  const limits = columns.flatMap(({ column, fieldName }) =>
    column.cast.maxLength === null ? [] : [{ fieldName, maxLength: column.cast.maxLength }],
  );
  const { keys, tooLong, isEmpty, isSparse } = objects.describeRows(limits, generatedIn(columns));
  if (isEmpty) return null;
  if (isSparse) throw refuseSparse();
  const limit = limits.find(({ fieldName }) => fieldName === tooLong);
  const isList = isListType(getNullableType(objects.type));
  const place = isList ? `${objects.place()}[*]` : objects.place();
  if (limit) throw refuseLength(limit.maxLength, `${place}.${limit.fieldName}`);
  const path = objects.path();
  invariant(path, 'the objects come from a variable');
  const each = isList ? [...path, '*'] : path;
  const refuseColumn = (fieldName: string, by: NestedField) => refuseGiven(fieldName, by, `${place}.${fieldName}`);
  return {
    columns,
    nested,
    keys,
    count: { kind: 'slot', slot: { kind: 'row_count', path } },
    place: each,
    patterns: (of) => objects.rowPatterns(of),
    values: (fieldName, isList) => ({ kind: 'key_values', path, fieldName, isList }),
    value: (index, fieldName, isList) => ({ kind: 'row_value', path, index, fieldName, isList }),
    presence: (key) => ({ kind: 'key_presence', path, key }),
    refuseColumn,
    related(of, excluded) {
      const { name } = of.field;
      const answer = objects.related(name, excluded);
      if (answer.startsWith('!')) throw refuseColumn(answer.slice(1), of);
      if (answer === 'none') return null;
      const entries = objects.below(of.field.type, [...each, name]);
      if (isToOne(of) && entries.members(ways) === null) throw refuseWays(of, entries);
      return {
        inserted: variableInserted(objects, { path, each }, of),
        connected: variableConnections(objects, { path, each }, of),
        isEvery: answer === 'all',
      };
    },
  };
}

/** How a row gets its only related one. */
const ways = ['insert', 'connect'] as const;

function isToOne({ relationship }: NestedField): boolean {
  return relationship.cardinality === 'one';
}

function refuseWays({ field }: NestedField, entry: Input): PublicError {
  return refuseInput(`"${field.name}" takes either "insert" or "connect".`, entry);
}

/** A list of a variable's objects, or the only one, and the path of each. */
interface VariableRows {
  readonly path: Path;
  readonly each: Path;
}

function variableInserted(objects: Input, { path, each }: VariableRows, of: NestedField): LinkedRows['inserted'] {
  const type = memberType(of, 'insert');
  if (type === undefined) return () => nothingInserted;
  const onConflict = agreedConflict(objects, each, of);
  const below = [of.field.name, 'insert'];
  const parents = { kind: 'row_parents', path, below, first: 1 } as const;
  const all = [...each, ...below];
  const linksAmong = (among: Path | null) => ({ kind: 'row_links', path, below, among }) as const;
  if (!isShared(of)) {
    return () => {
      const rows = planVariableRows(objects.below(type, all));
      return { objects: rows && { rows, parents, links: linksAmong(null), onConflict, known: null }, elsewhere: [] };
    };
  }
  return (known) => {
    const different = objects.below(type, [...all, distinct([])]);
    const earlier = known.filter(
      (each) => each.path !== null && isAlike(each, of, onConflict) && different.hasKnownRows(each.path),
    );
    const at = [...all, distinct(earlier.map((each) => each.path!))];
    const rows = planVariableRows(objects.below(type, at));
    const own = { table: of.target, onConflict, path: at, numbers: null };
    return {
      objects: rows && { rows, parents, links: linksAmong(at), onConflict, known: own },
      elsewhere: earlier.map((each) => ({ step: each.step, places: linksAmong(each.path) })),
    };
  };
}

function variableConnections(objects: Input, { path, each }: VariableRows, of: NestedField): readonly ConnectedRows[] {
  const type = memberType(of, 'connect');
  if (type === undefined) return [];
  const below = [of.field.name, 'connect', ...(isToOne(of) ? [] : ['*'])];
  return variableConnected(objects.below(type, [...each, ...below]), of, { path, first: 1 }, below);
}

const absent: Slot = { kind: 'constant', value: null };

const nothingInserted: InsertedRows = { objects: null, elsewhere: [] };

/** Objects in the document, null for none. @param place The place of several, without positions. */
function planRows(items: readonly Input[], type: Input['type'], place: string): PlannedRows | null {
  if (items.length === 0) return null;
  const { columns, nested } = readType(type);
  const byName = new Map(columns.map(({ column, fieldName }) => [fieldName, column]));
  const generated = new Set(generatedIn(columns));
  const isGiven = ({ field, input }: ReturnType<Input['fields']>[number]) =>
    !generated.has(field.name) || input.state() === 'value';
  const occurrences = new Map<string, number>();
  const inputs = items.map((item): ReadonlyMap<string, Input> => {
    item.requireValue();
    const fields = item.fields();
    const given = generated.size === 0 ? fields : fields.filter(isGiven);
    return new Map(given.map(({ field, input }) => [field.name, input]));
  });
  const rows = inputs.map((given): ReadonlyMap<string, Slot> => {
    for (const name of given.keys()) occurrences.set(name, (occurrences.get(name) ?? 0) + 1);
    return new Map(
      [...given].flatMap(([name, input]) => {
        const column = byName.get(name);
        return column === undefined ? [] : [[name, planValue(column, input)]];
      }),
    );
  });
  if (areSparse(items.length, occurrences)) throw refuseSparse();
  const keys = new Map(
    [...occurrences].map(([name, count]) => [name, count === items.length ? 'all' : 'some'] as const),
  );
  const sets = (index: number, { fieldName, related }: RowKey): boolean =>
    rows[index]!.has(fieldName) || related.some((name) => inputs[index]!.get(name)?.state() === 'value');
  return {
    columns,
    nested,
    keys,
    count: { kind: 'constant', value: items.length },
    place: items.length === 1 ? items[0]!.place() : place,
    patterns: (of) => patternsOf(rows.map((_, index) => patternOf(of, (key) => sets(index, key)))),
    values: (name) => ({ kind: 'array', items: rows.map((row) => row.get(name) ?? absent) }),
    value: (index, name) => rows[index]!.get(name) ?? absent,
    presence: (key) => ({ kind: 'constant', value: presenceText(rows.map((_, index) => sets(index, key))) }),
    refuseColumn: (fieldName, by) =>
      refuseGiven(
        fieldName,
        by,
        inputs
          .find((given) => given.has(fieldName))!
          .get(fieldName)!
          .place(),
      ),
    related: (of, excluded) => relatedRows(inputs, of, excluded, place),
  };
}

/** Related rows of the document's objects; the only list of them may be a variable. */
function relatedRows(
  inputs: readonly ReadonlyMap<string, Input>[],
  of: NestedField,
  excluded: readonly string[],
  place: string,
): LinkedRows | null {
  const { name } = of.field;
  const entries = inputs.map((row) => {
    const input = row.get(name);
    if (input?.state() !== 'value') return null;
    const clash = excluded.find((each) => row.has(each));
    if (clash !== undefined) throw refuseGiven(clash, of, row.get(clash)!.place());
    const members = new Map(input.fields().map((member) => [member.field.name, member.input]));
    const isGiven = (way: string) => members.get(way)?.state() === 'value';
    if (isToOne(of) && ways.filter(isGiven).length !== 1) throw refuseWays(of, input);
    return members;
  });
  if (entries.every((entry) => entry === null)) return null;
  const given = (member: string) =>
    entries.map((entry) => {
      const input = entry?.get(member);
      return input?.state() === 'value' ? input : null;
    });
  const list = isToOne(of) ? '' : '[*]';
  const inserted = given('insert');
  const onConflict = sameConflict(
    entries.flatMap((entry, index) => (inserted[index] === null ? [] : [entry?.get('onConflict')])),
    of,
  );
  return {
    inserted: (known) => relatedObjects(inserted, of, { place: `${place}.${name}.insert${list}`, onConflict, known }),
    connected: documentConnected(given('connect'), of, `${place}.${name}.connect${list}`),
    isEvery: entries.every((entry) => entry !== null),
  };
}

/** Objects nested in those of the document. @param given What each inserts. */
function relatedObjects(
  given: readonly (Input | null)[],
  of: NestedField,
  at: { readonly place: string; readonly onConflict: Input | null; readonly known: readonly KnownRows[] },
): InsertedRows {
  const { place, onConflict } = at;
  const lists = given.filter((input) => input !== null);
  const [only] = lists;
  if (only === undefined) return nothingInserted;
  const path = lists.length === 1 && !isToOne(of) ? only.path() : null;
  if (path !== null) {
    const first = given.indexOf(only) + 1;
    const rows = planVariableRows(only);
    const parents = { kind: 'row_parents', path: [], below: path, first } as const;
    return { objects: rows && { rows, parents, links: absent, onConflict, known: null }, elsewhere: [] };
  }
  const sources = given.map((input, index) => input && (isShared(of) ? input.source() : String(index)));
  const earlier = isShared(of) ? at.known.filter((each) => isAlike(each, of, onConflict)) : [];
  const isElsewhere = (source: string) => earlier.some(({ numbers }) => numbers?.has(source) === true);
  const numbers = new Map<string, number>();
  const items = given.flatMap((input, index) => {
    const source = sources[index]!;
    if (input === null || numbers.has(source) || isElsewhere(source)) return [];
    numbers.set(source, numbers.size + 1);
    const own = isToOne(of) ? [input] : [...input.items()];
    return own.map((item) => ({ item, parent: index + 1 }));
  });
  const rows = planRows(
    items.map(({ item }) => item),
    only.type,
    place,
  );
  const linksAmong = (among: ReadonlyMap<string, number> | null) =>
    ({
      kind: 'constant',
      value: placesText(sources.map((source) => (source === null ? null : (among?.get(source) ?? null)))),
    }) as const;
  const parents = { kind: 'constant', value: placesText(items.map(({ parent }) => parent)) } as const;
  const own = isShared(of) ? { table: of.target, onConflict, path: null, numbers } : null;
  return {
    objects: rows && { rows, parents, links: linksAmong(numbers), onConflict, known: own },
    elsewhere: earlier
      .filter((each) => sources.some((source) => source !== null && each.numbers?.has(source) === true))
      .map((each) => ({ step: each.step, places: linksAmong(each.numbers) })),
  };
}

/** The objects, or the only one, that an update of one row inserts; null for none. */
export function planNestedObjects(objects: Input): Pick<RelatedObjects, 'rows' | 'parents'> | null {
  const path = objects.path();
  if (path !== null) {
    const rows = planVariableRows(objects);
    return rows && { rows, parents: { kind: 'row_parents', path: [], below: path, first: 1 } };
  }
  const items = isListType(getNullableType(objects.type)) ? [...objects.items()] : [objects];
  const rows = planRows(items, objects.type, `${objects.place()}[*]`);
  return rows && { rows, parents: { kind: 'constant', value: placesText(items.map(() => 1)) } };
}

/** The error for a column that a relationship sets. */
export function refuseGiven(fieldName: string, { field }: NestedField, place: string): PublicError {
  const message = `"${fieldName}" is set by "${field.name}". Leave it out.`;
  return badInput(message, { extensions: { input: place } });
}

/** The error for objects with too many different keys. */
export function refuseKeys(message: string): PublicError {
  return new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'keys' } });
}

function refuseSparse(): PublicError {
  return refuseKeys('The objects lack too many of the keys that others of them have.');
}
