/**
 * `GET /config/auth/fields`: what each field of the auth configuration takes, where its value comes from, and what
 * applies without a stored one. The value itself is in the answer of `GET /config/auth`.
 */
import { layerAuthConfig } from '../config/auth/auth-config.ts';
import type { AuthField } from '../config/auth/auth-field.ts';
import { about, anything, flag, listOf, named, objectOf, oneOf, orNull, text, type ValueOf } from '../shared/schema.ts';
import { configFields } from './config-fields.ts';
import type { ConfigSnapshot } from './config-store.ts';
import { presentConfig } from './present-config.ts';
import type { DigestSecret } from './secret-digest.ts';

const aNumber = anything<number>({ type: 'number' });

/** A field. */
const describedField = named(
  'AuthConfigField',
  objectOf({
    name: text,
    description: about(text, 'One sentence.'),
    type: oneOf('boolean', 'integer', 'number', 'string', 'object'),
    options: about(orNull(listOf(text)), 'The only values that it takes; null: others, too.'),
    minimum: orNull(aNumber),
    maximum: orNull(aNumber),
    isList: about(flag, 'A text of items that are separated by commas.'),
    isSecret: about(flag, 'Answered as a digest only.'),
    isRequired: about(flag, 'Null is refused.'),
    hasEffect: about(flag, 'False: accepted and stored without effect.'),
    origin: about(oneOf('default', 'start', 'stored'), 'Where its value comes from.'),
    initial: about(anything(), 'Its value if none is stored, in the form of `GET /config/auth`.'),
  }),
);

/** The answer. */
export const describedFields = named(
  'AuthConfigFields',
  objectOf({
    isConfigOnly: about(flag, 'The gateway ignores stored values (`--config-only`) and refuses changes.'),
    fields: listOf(describedField),
  }),
);

/** A field. */
export type DescribedField = ValueOf<typeof describedField>;

/** All fields, in the order of the answer of GET. */
export function describeFields(
  snapshot: ConfigSnapshot,
  digest: DigestSecret,
  isConfigOnly: boolean,
): ValueOf<typeof describedFields> {
  const { stored, start } = snapshot;
  const initial = presentConfig({ ...snapshot, stored: {}, config: layerAuthConfig(start) }, digest);
  const fields = [...configFields.values()].map(({ name, row, inert }): DescribedField => {
    const origin = Object.hasOwn(stored, name) ? 'stored' : Object.hasOwn(start, name) ? 'start' : 'default';
    return { name, ...describeRow(row), hasEffect: !inert, origin, initial: initial[name] };
  });
  return { isConfigOnly, fields };
}

function describeRow({ doc, kind, list, secret, notNull }: AuthField<unknown>) {
  const { type, enum: options = null, minimum = null, maximum = null } = kind.json;
  return {
    description: doc,
    type: [type].flat()[0] as DescribedField['type'],
    options: options as readonly string[] | null,
    minimum: minimum as number | null,
    maximum: maximum as number | null,
    isList: list === true,
    isSecret: secret === true,
    isRequired: notNull === true,
  };
}
