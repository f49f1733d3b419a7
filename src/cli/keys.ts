/**
 * `pgreflect keys`: makes a signing secret or key pair, the anon key and the service key, as lines of an environment
 * file, and replaces signing keys. Offline. For a given secret the lines are always the same.
 */
import type { JsonWebKeyMember } from '../config/json-web-keys.ts';
import { findSigningKey, makeApiKeys, makeSecret, makeSigningKey, type Signer, toPublicKey } from '../config/keys.ts';
import { loadOptionsOrThrow } from '../config/load-options.ts';
import { quoteForShell } from '../shared/quote-for-shell.ts';
import { rotateKeys } from './rotate-keys.ts';
import { type Command, type CommandContext, failCommand } from './shared/command.ts';

/** The command `pgreflect keys`. */
export const keys: Command = {
  flags: [
    { flag: 'asymmetric', doc: 'Create an ES256 key pair instead of a secret.' },
    { flag: 'rotate', doc: 'Let the next key sign; those before verify.' },
    { flag: 'standby', doc: 'Add the next key, which verifies and signs after a later --rotate.' },
    { flag: 'retire', doc: 'Remove the keys before the one that signs: what they signed is refused.' },
    { flag: 'force', doc: 'With --retire: also while access tokens of those keys can be in use.' },
    { flag: 'out', placeholder: 'FILE', doc: 'Write the signing keys to this file, for --jwt-keys.' },
  ],
  notes: `Works offline. With --jwt-secret, prints the keys of that secret; they are always the same. With --jwt-keys, prints
keys signed by the signing key. ES256 signatures are random, so these keys differ each time, and all are valid.

--rotate, --standby and --retire change the file that --jwt-keys names, or print the changed keys where it is no file.
With --jwt-secret, --rotate makes keys of the secret and of a new one. Without either, they change the keys of the project that
\`pgreflect start\` keeps in this directory; a running one signs with the new key after some seconds. docs/rotate-secrets.md has the steps.

--retire refuses as long as access tokens of the old keys can be in use: PGREFLECT_JWT_EXP, or jwt_exp, seconds after --rotate.

Examples:
  (umask 077; pgreflect keys > pgreflect.env) && set -a && . ./pgreflect.env && set +a
  pgreflect keys --asymmetric
  pgreflect keys --rotate --jwt-keys ./keys.json`,
  run: runKeys,
};

async function runKeys(context: CommandContext): Promise<number> {
  const names = ['jwtSecret', 'jwtKeys', 'anonRole', 'serviceRole'] as const;
  const { values, files, file } = loadOptionsOrThrow(names, context.sources);
  const { rotate, standby, retire } = context.flags;
  const isChange = rotate || standby || retire;
  if (!isChange && context.flags.out) failCommand('--out is for --rotate, --standby and --retire.');
  const isAsymmetric = context.flags.asymmetric || values.jwtKeys !== null;
  const make = async () => {
    const signer = isAsymmetric ? await keySigner(values.jwtKeys, context) : secretSigner(values.jwtSecret, context);
    return makeApiKeys(signer, values.anonRole!, values.serviceRole!);
  };
  const apiKeys = isChange
    ? await rotateKeys(values, { source: files.get('jwtKeys') ?? null, config: file }, context)
    : await make();
  if (apiKeys === null) return 0;
  const { anonKey, serviceKey } = apiKeys;
  context.print('# For clients; can be public.');
  context.print(`PGREFLECT_ANON_KEY=${anonKey}`);
  context.print('# For trusted servers only; bypasses row security.');
  context.print(`PGREFLECT_SERVICE_KEY=${serviceKey}`);
  return 0;
}

/** The given key, or a new one, which is printed. */
async function keySigner(given: readonly JsonWebKeyMember[] | null, context: CommandContext): Promise<Signer> {
  const key = given === null ? await makeSigningKey() : findSigningKey(given);
  if (key === null)
    failCommand(
      'None of the keys of --jwt-keys has `sign` in key_ops.',
      'To create a key pair: pgreflect keys --asymmetric',
    );
  if (given === null) context.print(`PGREFLECT_JWT_KEYS='${JSON.stringify([key])}'`);
  // For other services that verify our tokens; the gateway needs only the line above.
  if (key.kty !== 'oct')
    context.print(`# Public part, a JSON Web Key Set: ${JSON.stringify({ keys: [toPublicKey(key)] })}`);
  return key;
}

/** The given secret, or a new one; prints it. */
function secretSigner(given: string | null, context: CommandContext): Signer {
  const secret = given ?? makeSecret();
  // Without quotes if possible, because not every reader of environment files removes them.
  const plain = /^[\w.+/=-]+$/.test(secret);
  context.print(`PGREFLECT_JWT_SECRET=${plain ? secret : quoteForShell(secret)}`);
  return secret;
}
