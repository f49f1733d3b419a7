/**
 * The identity of a model: two roles with equal fingerprints see the same and share schema and statements.
 */
import { createHash } from 'node:crypto';
import type { Model } from './model.ts';

/**
 * Hash of what the schema and the statements are made of. Warnings do not count: they name the role, and change nothing.
 *
 * @returns 32 hexadecimal digits.
 */
export function modelFingerprint(model: Omit<Model, 'fingerprint' | 'warnings'>): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([model.namespaces, model.directiveError]));
  for (const part of [model.tables, model.enums, model.routines]) {
    hash.update(';');
    for (const object of part.values()) hash.update(JSON.stringify(object));
  }
  return hash.digest('hex').slice(0, 32);
}
