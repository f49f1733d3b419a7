/**
 * A snapshot of the configuration -> the JSON object that the management API answers with: every known field with its
 * effective value, secrets as digests, texts of emails as they will be sent.
 */
import { parseDurationSeconds } from '../config/auth/auth-field.ts';
import { isAuthFieldName } from '../config/auth/auth-fields.ts';
import { defaultTemplates } from '../email/default-templates.ts';
import { configFields } from './config-fields.ts';
import type { ConfigSnapshot } from './config-store.ts';
import type { DigestSecret } from './secret-digest.ts';
import { templateField } from './templates/check-template.ts';

/** The whole object, in the order of the fields. */
export function presentConfig(snapshot: ConfigSnapshot, digest: DigestSecret): Readonly<Record<string, unknown>> {
  const entries = [...configFields].map(([name, { row }]) => {
    const value = effectiveValue(snapshot, name);
    if (row.secret) return [name, typeof value === 'string' && value !== '' ? digest(name, value) : value];
    const template = templateField(name);
    if (template !== null) return [name, value || defaultTemplates[template.email][template.part]];
    return [name, typeof value === 'string' && row.kind.type === 'integer' ? toHourly(value) : value];
  });
  return Object.fromEntries(entries);
}

/** The value in force, secrets in clear; for an inert field what is stored. */
function effectiveValue({ config, stored }: ConfigSnapshot, name: string): unknown {
  if (isAuthFieldName(name)) return config[name];
  return stored[name] ?? configFields.get(name)?.row.default ?? null;
}

/** A start value may be `n/duration`, for which JSON's type of the field has no room: shown as messages an hour. */
function toHourly(limit: string): number {
  const [count = '', duration = ''] = limit.split('/');
  return Math.max(1, Math.round((Number(count) * 3600) / parseDurationSeconds(duration)));
}
