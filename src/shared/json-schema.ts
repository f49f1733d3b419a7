/**
 * JSON Schema in OpenAPI 3.1's dialect, as data, for parts that read or build JSON.
 *
 * `SchemaOf<T>` and its makers tie a schema to its TypeScript type, so that both are written once. TypeBox would save 16
 * lines, and cost each start 78 ms of CPU (test/bench/tried.md).
 */

/** A schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A reference to a schema of the document by its name. */
export function schemaNamed(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

declare const valueType: unique symbol;

/** A schema of values of the type `T`, a type-only property. */
export interface SchemaOf<T> extends JsonSchema {
  readonly [valueType]?: T;
}

/** The values of a schema. */
export type ValueOf<S> = S extends SchemaOf<infer T> ? T : never;

/** A text. */
export const text = (description?: string): SchemaOf<string> => ({ type: 'string', ...about(description) });

/** A boolean. */
export const flag: SchemaOf<boolean> = { type: 'boolean' };

/** An integer. */
export const integer: SchemaOf<number> = { type: 'integer' };

/** An object of any members of the type `T`. */
export const record = <T extends object = Readonly<Record<string, unknown>>>(description?: string): SchemaOf<T> => ({
  type: 'object',
  ...about(description),
});

/** One of some words. */
export const oneOf = <const T extends string>(...words: readonly T[]): SchemaOf<T> => ({
  type: 'string',
  enum: words,
});

/** The same, or null. */
export const orNull = <T>(schema: SchemaOf<T>): SchemaOf<T | null> => ({
  ...schema,
  type: [schema.type, 'null'].flat(),
  ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
});

/** An array. */
export const listOf = <T>(items: SchemaOf<T>): SchemaOf<readonly T[]> => ({ type: 'array', items });

/** An object with these required members. @param more Optional members. */
export function objectOf<M extends Readonly<Record<string, SchemaOf<unknown>>>>(
  members: M,
  description?: string,
  more: JsonSchema = {},
): SchemaOf<{ readonly [K in keyof M]: ValueOf<M[K]> }> {
  const properties = { ...members, ...more };
  return { type: 'object', properties, required: Object.keys(members), ...about(description) };
}

function about(description: string | undefined): JsonSchema {
  return description === undefined ? {} : { description };
}

/** A parameter of a request in OpenAPI, by default a text; one in the path is required. */
export function parameter(
  place: 'path' | 'query' | 'header',
  name: string,
  description: string,
  schema: JsonSchema = {},
): JsonSchema {
  const required = place === 'path' && { required: true };
  return { name, in: place, ...required, description, schema: { type: 'string', ...schema } };
}
