/**
 * The language that describes values: bodies, answers, fields of the configuration and options are values of it. A
 * schema reads JSON or text, prints JSON, and has a JSON Schema in OpenAPI 3.1's dialect.
 *
 * Ours is smaller than what a library leaves to write: texts of the environment, the messages, and the printing. Each
 * start would pay 12 ms of CPU for valibot and 145 ms for zod.
 */
import { isObject, parseJson } from './json.ts';

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a document says of a value. */
export interface Described {
  readonly json: JsonSchema;
  /** Schemas that `json` refers to as `#/components/schemas/NAME`. */
  readonly named: Readonly<Record<string, JsonSchema>>;
  /** May be absent as a field of an object. */
  readonly isOptional?: true;
}

/** A description that prints values as JSON. */
export interface JsonPrinter<T> extends Described {
  print(value: T): unknown;
}

/** A description that also reads values. A failure is an `Error` with the rest of a sentence: "must be a string". */
export interface Schema<T> extends JsonPrinter<T> {
  /** Reads JSON, without coercion. */
  parse(value: unknown): T;
  /** Reads the text of an option, a variable or a flag. */
  parseText(text: string): T;
}

/** The values of a schema. */
export type ValueOf<S> = S extends JsonPrinter<infer T> ? T : never;

/** Makes a schema. @param parseText Default: JSON. */
export function schemaOf<T>(
  json: JsonSchema,
  parse: (value: unknown) => T,
  parseText: (text: string) => T = (text) => parse(parseJson(text)),
): Schema<T> {
  return { json, named: {}, parse, parseText, print: (value) => value };
}

/** A schema that checks nothing but what `isValid` says. @param noun The rest of "must be". */
function checked<T>(
  json: JsonSchema,
  noun: string,
  isValid: (value: unknown) => boolean,
  parseText?: (text: string) => T,
): Schema<T> {
  const parse = (value: unknown): T => {
    if (!isValid(value)) throw new Error(`must be ${noun}`);
    return value as T;
  };
  return schemaOf(json, parse, parseText);
}

/** Any JSON, described by hand. */
export function anything<T = unknown>(json: JsonSchema = {}): Schema<T> {
  return schemaOf(json, (value) => value as T);
}

/** A text. */
export const text: Schema<string> = checked(
  { type: 'string' },
  'a string',
  (value) => typeof value === 'string',
  (given) => given,
);

/** An id. */
export const uuid: Schema<string> = about(text, { format: 'uuid' });

/** A value written as text. @param read Throws an `Error` with the rest of a sentence. */
export function asText<T>(read: (text: string) => T): Schema<T> {
  return schemaOf({ type: 'string' }, (value) => read(text.parse(value)), read);
}

/** A boolean; as text also common words for it. */
export const flag: Schema<boolean> = checked(
  { type: 'boolean' },
  'true or false',
  (value) => typeof value === 'boolean',
  (given) => {
    const word = given.trim().toLowerCase();
    if (['true', 't', 'on', 'yes', '1'].includes(word)) return true;
    if (['false', 'f', 'off', 'no', '0'].includes(word)) return false;
    throw new Error('must be true or false');
  },
);

/** An integer. */
export const integer: Schema<number> = checked({ type: 'integer' }, 'an integer', Number.isInteger);

/** Digits, in groups if wanted: `20_000`. NaN for other text. */
function readDigits(given: string): number {
  return /^-?[0-9]+(_[0-9]+)*$/.test(given) ? Number(given.replaceAll('_', '')) : Number.NaN;
}

/** An integer in a range, inclusive. @param read Reads text that may be more than digits. */
export function integerBetween(minimum: number, maximum: number, read = readDigits): Schema<number> {
  const check = (value: number, hint = ''): number => {
    if (value >= minimum && value <= maximum && Number.isInteger(value)) return value;
    throw new Error(`must be a whole number from ${minimum} to ${maximum}${hint}`);
  };
  const parseText = (given: string): number => {
    if (!given.startsWith('tcp://')) return check(read(given.trim()));
    const sets = 'Kubernetes sets such variables for a service of that name; switch `enableServiceLinks` off';
    return check(Number.NaN, ` (${sets})`);
  };
  return schemaOf({ type: 'integer', minimum, maximum }, (value) => check(integer.parse(value)), parseText);
}

/** One of some words. */
export function oneOf<const T extends string>(...words: readonly T[]): Schema<T> {
  const isWord = (value: unknown) => words.some((word) => word === value);
  const known = checked<T>({ type: 'string', enum: words }, `one of ${words.join(', ')}`, isWord);
  return { ...known, parseText: (given) => known.parse(given.trim()) };
}

/** An object of any fields of the type `T`. */
export function record<T extends object = Readonly<Record<string, unknown>>>(): Schema<T> {
  return checked<T>({ type: 'object' }, 'an object', isObject);
}

/** An array. */
export function listOf<T>(items: Schema<T>): Schema<readonly T[]>;
export function listOf<T>(items: JsonPrinter<T>): JsonPrinter<readonly T[]>;
export function listOf<T>(items: JsonPrinter<T>): JsonPrinter<readonly T[]> {
  const parse = (value: unknown) => {
    if (!Array.isArray(value)) throw new Error('must be a list');
    return value.map((item) => (items as Schema<T>).parse(item));
  };
  return {
    ...schemaOf<readonly T[]>({ type: 'array', items: items.json }, parse),
    named: items.named,
    print: (list) => list.map((item) => items.print(item)),
  };
}

/** The same, or null. An absent value counts as null. */
export function orNull<T>(schema: Schema<T>): Schema<T | null>;
export function orNull<T>(schema: JsonPrinter<T>): JsonPrinter<T | null>;
export function orNull<T>(schema: JsonPrinter<T>): JsonPrinter<T | null> {
  const { type, enum: words } = schema.json;
  return {
    ...schema,
    json: { ...schema.json, type: [type, 'null'].flat(), ...(Array.isArray(words) && { enum: [...words, null] }) },
    parse: (value: unknown) => (value === null || value === undefined ? null : (schema as Schema<T>).parse(value)),
    print: (value: T | null) => (value === null ? null : schema.print(value)),
  } as unknown as Schema<T | null>;
}

/** The same, which may be absent as a field: undefined. */
export function optional<S extends Described>(schema: S): S & { readonly isOptional: true } {
  const parse = (value: unknown) =>
    value === undefined ? undefined : (schema as unknown as Schema<unknown>).parse(value);
  return { ...schema, isOptional: true, ...('parse' in schema && { parse }) };
}

/** The same with more facts for readers of the document, which nothing checks. @param facts A text: the description. */
export function about<S extends Described>(schema: S, facts: string | JsonSchema): S {
  return { ...schema, json: { ...schema.json, ...(typeof facts === 'string' ? { description: facts } : facts) } };
}

/** The same, which other schemas refer to by its name. */
export function named<S extends Described>(name: string, schema: S): S {
  return { ...schema, json: referTo(name), named: { ...schema.named, [name]: schema.json } };
}

/** A reference to a schema of the document by its name. */
export function referTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** One of several. */
export function anyOf(...schemas: readonly Described[]): Described {
  return { json: { anyOf: schemas.map(({ json }) => json) }, named: namedIn(schemas) };
}

type Fields = Readonly<Record<string, Schema<unknown>>>;
type Optional<M extends Fields> = { [K in keyof M]: M[K] extends { readonly isOptional: true } ? K : never }[keyof M];
type ObjectOf<M extends Fields> = { readonly [K in Exclude<keyof M, Optional<M>>]: ValueOf<M[K]> } & {
  readonly [K in Optional<M>]?: ValueOf<M[K]>;
};

/** An object with these fields; unknown ones are ignored. */
export function objectOf<const M extends Fields>(fields: M): Schema<ObjectOf<M>> {
  const entries = Object.entries(fields);
  const parse = (value: unknown) => {
    if (!isObject(value)) throw new Error('must be an object');
    const read = entries.map(([name, field]) => [name, parseField(name, field, value)]);
    return Object.fromEntries(read) as ObjectOf<M>;
  };
  return { ...schemaOf({}, parse), ...describeObject(fields) };
}

/** @throws Error which names the field: `field "email" is not a string` */
function parseField(name: string, field: Schema<unknown>, object: Readonly<Record<string, unknown>>): unknown {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  try {
    return field.parse(value);
  } catch (error) {
    throw new Error(`field "${name}" ${(error as Error).message.replace(/^must be/, 'is not')}`);
  }
}

/** A field of an answer: a printer, and what it prints of a value of the type `T`. */
interface AnswerField<T> extends Described {
  readonly printFrom: (value: T) => unknown;
}

/** Fields in the order of the answer. */
export type AnswerFields<T> = Readonly<Record<string, AnswerField<T>>>;

/** JSON-ready; undefined fields are left out by `JSON.stringify`. */
export type AnswerJson = Readonly<Record<string, unknown>>;

/** Prints values of the type `T` as objects. */
export interface Serializer<T> extends JsonPrinter<T> {
  print(value: T): AnswerJson;
}

/** A field of an answer. @param read Undefined leaves an optional field out. */
export function from<T, V>(printer: JsonPrinter<V>, read: (value: T) => V | undefined): AnswerField<T> {
  const printFrom = (value: T) => {
    const part = read(value);
    return part === undefined ? undefined : printer.print(part);
  };
  return { ...printer, printFrom };
}

/** The fields of another answer, read from a part of the value. */
export function through<T, Part>(fields: AnswerFields<Part>, part: (value: T) => Part): AnswerFields<T> {
  const entries = Object.entries(fields);
  return Object.fromEntries(
    entries.map(([name, field]) => [name, { ...field, printFrom: (value: T) => field.printFrom(part(value)) }]),
  );
}

/** An object made of a value of the type `T`, with a name of its own in the document. */
export function serializerOf<T>(name: string, fields: AnswerFields<T>): Serializer<T> {
  const entries = Object.entries(fields);
  const print = (value: T) => Object.fromEntries(entries.map(([field, { printFrom }]) => [field, printFrom(value)]));
  return { ...named(name, describeObject(fields)), print };
}

function describeObject(fields: Readonly<Record<string, Described>>): Described {
  const entries = Object.entries(fields);
  const required = entries.flatMap(([name, { isOptional }]) => (isOptional ? [] : [name]));
  const properties = Object.fromEntries(entries.map(([name, { json }]) => [name, json]));
  const json = { type: 'object', properties, ...(required.length > 0 && { required }) };
  return { json, named: namedIn(Object.values(fields)) };
}

function namedIn(schemas: readonly Described[]): Described['named'] {
  return Object.assign({}, ...schemas.map((schema) => schema.named));
}
