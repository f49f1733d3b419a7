/** JSON Schemas of the auth configuration, made from the validation rows: the answer of GET and the body of PATCH. */
import type { AuthField } from '../config/auth/auth-field.ts';
import {
  about,
  anything,
  type Described,
  type JsonSchema,
  listOf,
  orNull,
  referTo,
  type Schema,
  text,
} from '../shared/schema.ts';
import { changeNote } from './change-note.ts';
import { configFields } from './config-fields.ts';

/** The answer of GET. Made when it is asked for, because most processes never are. */
export const configAnswer: Described = {
  json: referTo('AuthConfig'),
  get named() {
    return { AuthConfig: answerSchema() };
  },
};

/** The body of PATCH. */
export const configChange: Described = {
  json: referTo('AuthConfigChange'),
  get named() {
    return { AuthConfigChange: changeSchema() };
  },
};

/** Every field, in order. */
function answerSchema(): JsonSchema {
  const properties = [...configFields].map(([name, { row }]) => {
    const value = row.default === null ? orNull(answerValue(row)) : answerValue(row);
    return [name, about(value, describe(row, 'answer')).json];
  });
  const warnings = about(listOf(changeNote), 'Only with `Prefer: return=representation; warnings`.').json;
  return {
    type: 'object',
    properties: { ...Object.fromEntries(properties), warnings },
    required: [...configFields.keys()],
  };
}

/** Any fields; null restores the start value. */
function changeSchema(): JsonSchema {
  const properties = [...configFields].map(([name, { row }]) => {
    const taken = row.notNull ? row.kind : orNull(row.kind);
    const facts = { description: describe(row, 'change'), ...(row.secret && { writeOnly: true }) };
    return [name, about(taken, facts).json];
  });
  return { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false };
}

/** A secret is returned as a digest, a number that was given for a text as text. An email text may have any form. */
function answerValue({ secret, kind }: AuthField<unknown>): Schema<unknown> {
  if (secret) return about(text, { pattern: '^(hmac-sha256:[0-9a-f]{64})?$' });
  const { type, enum: words } = kind.json;
  return anything({ type: [type].flat()[0], ...(words !== undefined && { enum: words }) });
}

function describe({ doc, secret, default: fallback }: AuthField<unknown>, use: 'answer' | 'change'): string {
  const digest = secret && use === 'answer' ? ' Shown as HMAC-SHA-256 with a key of the server, in hex.' : '';
  const note = fallback === null || fallback === '' ? '' : ` Default: ${String(fallback)}.`;
  return `${doc}${digest}${note}`;
}
