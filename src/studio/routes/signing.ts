/** What signs tokens, and what verifies those of earlier keys: ids and times, never a key. */
import { tokenSeconds } from '../../config/auth/token-seconds.ts';
import type { Config } from '../../config/config.ts';
import { isSigner, type JsonWebKeyMember } from '../../config/json-web-keys.ts';
import { findSigningKey } from '../../config/keys.ts';
import { signedUntil } from '../../config/rotate-keys.ts';
import { about, integer, listOf, objectOf, oneOf, orNull, text, type ValueOf } from '../../shared/schema.ts';
import type { PageParts } from './studio-parts.ts';

/** The answer. */
export const signing = objectOf({
  from: about(
    oneOf('project', 'keys', 'secret', 'nothing'),
    'What signs tokens: keys that a local project keeps, given keys, or a secret.',
  ),
  tokenSeconds: about(integer, 'Lifetime of access tokens.'),
  keys: listOf(
    objectOf({
      id: about(orNull(text), 'The `kid`; null: it has none.'),
      algorithm: text,
      state: about(oneOf('standby', 'signs', 'verifies'), 'A key on standby signs next.'),
      signedUntil: about(
        orNull(text),
        'When another key was told to sign; null: unknown. The last access token that it signed expires `tokenSeconds` and ten seconds later.',
      ),
    }),
  ),
});

type Signing = ValueOf<typeof signing>;

/** @returns Keys in the order of the configuration, a secret beside them last. */
export function describeSigning({ config, auth }: Pick<PageParts, 'config' | 'auth'>): Signing {
  const { jwtKeys, jwtSecret } = config;
  const signer = jwtKeys.findIndex(isSigner);
  const ofSecret = {
    id: null,
    algorithm: 'HS256',
    state: signer < 0 ? 'signs' : 'verifies',
    signedUntil: null,
  } as const;
  return {
    from: sourceOf(config),
    tokenSeconds: tokenSeconds(auth?.knownConfig() ?? { jwt_exp: 0 }),
    keys: [
      ...jwtKeys.map((key, at) => ({
        id: key.kid ?? null,
        algorithm: key.alg ?? '',
        state: stateOf(key, at < signer),
        signedUntil: toText(signedUntil(key)),
      })),
      ...(jwtSecret === null ? [] : [ofSecret]),
    ],
  };
}

function sourceOf({ jwtKeys, jwtSecret, keepsKeys }: Config): Signing['from'] {
  if (keepsKeys) return 'project';
  if (findSigningKey(jwtKeys) !== null) return 'keys';
  return jwtSecret === null ? 'nothing' : 'secret';
}

function stateOf(key: JsonWebKeyMember, isBefore: boolean): Signing['keys'][number]['state'] {
  if (isSigner(key)) return 'signs';
  return isBefore ? 'standby' : 'verifies';
}

function toText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
