/**
 * JSON Schemas of the auth configuration, made from the validation rows: the answer of GET and the body of PATCH.
 */
import type { AuthField, FieldKind } from '../config/auth/auth-field.ts';
import { type JsonSchema, listOf, orNull, text } from '../shared/json-schema.ts';
import { configFields } from './config-fields.ts';

/** The answer: every field, in order. */
export function answerSchema(): JsonSchema {
  const properties = [...configFields].map(([name, { row }]) => {
    const value = row.default === null ? orNull(answerValue(row)) : answerValue(row);
    return [name, { ...value, description: describe(row, 'answer') }];
  });
  const warnings = { ...listOf(text()), description: 'Only with `Prefer: return=representation; warnings`.' };
  return {
    type: 'object',
    properties: { ...Object.fromEntries(properties), warnings },
    required: [...configFields.keys()],
  };
}

/** The body of a change: any fields; null restores the start value. */
export function changeSchema(): JsonSchema {
  const properties = [...configFields].map(([name, { row }]) => {
    const value = valueSchema(row);
    const taken = row.notNull ? value : orNull(value);
    return [name, { ...taken, description: describe(row, 'change'), ...(row.secret && { writeOnly: true }) }];
  });
  return { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false };
}

function valueSchema({ kind }: AuthField<unknown>): JsonSchema {
  const { type, minimum, maximum, choices } = kind;
  return {
    type: type === 'string' && takesInteger(kind) ? ['string', 'integer'] : type,
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(choices !== undefined && { enum: [...choices] }),
  };
}

/** A port may be given as a number. */
function takesInteger(kind: FieldKind<unknown>): boolean {
  try {
    kind.fromJson(1);
    return true;
  } catch {
    return false;
  }
}

/** A secret is returned as a digest, and an email text from a start value may have any form. */
function answerValue(row: AuthField<unknown>): JsonSchema {
  if (row.secret) return { type: 'string', pattern: '^(hmac-sha256:[0-9a-f]{64})?$' };
  const { type, choices } = row.kind;
  return choices === undefined ? { type } : { type, enum: [...choices] };
}

function describe({ doc, secret, default: fallback }: AuthField<unknown>, use: 'answer' | 'change'): string {
  const digest = secret && use === 'answer' ? ' Shown as HMAC-SHA-256 with a key of the server, in hex.' : '';
  const note = fallback === null || fallback === '' ? '' : ` Default: ${String(fallback)}.`;
  return `${doc}${digest}${note}`;
}
