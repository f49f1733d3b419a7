/**
 * JSON Schema of the dialect that OpenAPI 3.1 uses, as data: parts that read or build JSON say with it what they take and make.
 */

/** A schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A reference to a schema of the document by its name. */
export function schemaNamed(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
