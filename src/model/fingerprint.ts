/**
 * The identity of a model: two roles with equal fingerprints see the same and share schema and statements.
 */
import { createHash } from 'node:crypto';
import type { Model } from './model.ts';

/**
 * Hash of what the schema and the statements are made of.
 *
 * Most columns share a few type objects, so a type is written once and referred to by its number, and of everything else the
 * values are written without their names: of ten thousand tables the whole text would be a hundred megabytes.
 *
 * @returns 32 hexadecimal digits.
 */
export function modelFingerprint(model: Omit<Model, 'fingerprint'>): string {
  const hash = createHash('sha256');
  const types = new Map<object, number>();
  const written = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = types.get(value);
    if (known !== undefined) return { known };
    types.set(value, types.size);
    return value;
  };
  hash.update(JSON.stringify([model.namespaces, model.directiveError]));
  for (const { columns, ...table } of model.tables.values()) {
    const rows = columns.map((column) => Object.values(column).map(written));
    hash.update(JSON.stringify([Object.values(table), rows]));
  }
  for (const part of [model.enums, model.routines]) {
    hash.update(';');
    for (const object of part.values()) hash.update(JSON.stringify(object));
  }
  return hash.digest('hex').slice(0, 32);
}
