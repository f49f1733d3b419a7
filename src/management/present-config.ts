/**
 * Turns a snapshot of the configuration into the JSON of the management API: every field with its effective value,
 * secrets as digests, email texts as they will be sent.
 */
import { isAuthFieldName } from '../config/auth/auth-fields.ts';
import { linkPageField } from '../config/auth/auth-template-fields.ts';
import { parseDurationSeconds } from '../config/auth/go-duration.ts';
import { builtInLinkPage } from '../email/link-page/link-page-texts.ts';
import { templateField } from '../email/lint/check-template.ts';
import { builtInText } from '../email/message/choose-texts.ts';
import { configFields } from './config-fields.ts';
import type { ConfigSnapshot } from './config-store.ts';
import type { DigestSecret } from './secret-digest.ts';

/** The whole object, in the order of the fields. */
export function presentConfig(snapshot: ConfigSnapshot, digest: DigestSecret): Readonly<Record<string, unknown>> {
  const entries = [...configFields].map(([name, { row }]) => {
    const value = effectiveValue(snapshot, name);
    if (row.secret) return [name, typeof value === 'string' && value !== '' ? digest(name, value) : value];
    if (name === linkPageField) return [name, value || builtInLinkPage('en')];
    const template = templateField(name);
    if (template !== null) return [name, value || (builtInText(template, snapshot.config) ?? value)];
    return [name, typeof value === 'string' && row.kind.json.type === 'integer' ? toHourly(value) : value];
  });
  return Object.fromEntries(entries);
}

/** The effective value, secrets in plain text; for an inert field, the stored value. */
function effectiveValue({ config, stored }: ConfigSnapshot, name: string): unknown {
  if (isAuthFieldName(name)) return config[name];
  return stored[name] ?? configFields.get(name)?.row.default ?? null;
}

/** A start value may be `n/duration`, but the field's JSON type is a number: shown as messages per hour. */
function toHourly(limit: string): number {
  const [count = '', duration = ''] = limit.split('/');
  return Math.max(1, Math.round((Number(count) * 3600) / parseDurationSeconds(duration)));
}
