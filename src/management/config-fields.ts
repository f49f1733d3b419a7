/**
 * All fields that the management API knows: those with a meaning (src/config/auth/auth-fields.ts) before the inert ones.
 *
 * Validation, answers and the OpenAPI description are made from these rows; there is no second list.
 */
import type { AuthField } from '../config/auth/auth-field.ts';
import { authField, authFieldNames } from '../config/auth/auth-fields.ts';
import { inertFields } from './inert-fields.ts';

/** One known field. */
export interface ConfigField {
  readonly name: string;
  readonly row: AuthField<unknown>;
  /** Accepted and stored, without effect. */
  readonly inert: boolean;
}

/** The fields by name, in the order in which problems are reported. */
export const configFields: ReadonlyMap<string, ConfigField> = new Map([
  ...authFieldNames.map((name): [string, ConfigField] => [name, { name, row: authField(name), inert: false }]),
  ...[...inertFields].map(([name, row]): [string, ConfigField] => [name, { name, row, inert: true }]),
]);

/** Values of fields by name, as JSON has them. What is absent is at its default or start value. */
export type StoredValues = Readonly<Record<string, unknown>>;
