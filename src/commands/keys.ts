/**
 * `pgreflect keys`: makes a signing secret or key pair, the anon key and the service key, as lines for an environment file.
 * Offline. With a given secret the lines are always the same.
 */
import { findSigningKey, makeApiKeys, makeSecret, makeSigningKey, type Signer, toPublicKey } from '../config/keys.ts';
import { loadOptionsOrThrow } from '../config/load-options.ts';
import { type Command, type CommandContext, refuse } from './command.ts';

/** The command `pgreflect keys`. */
export const keys: Command = {
  name: 'keys',
  summary: 'Create a signing secret, the anon key and the service key, as environment variables.',
  operand: null,
  flags: [{ flag: 'asymmetric', placeholder: null, doc: 'Create an ES256 key pair instead of a secret.' }],
  notes: `Works offline. With --jwt-secret, prints the keys of that secret; they are always the same. With --jwt-keys, prints
keys signed by the signing key. ES256 signatures are random, so these keys differ each time, and all are valid.

Examples:
  (umask 077; pgreflect keys > keys.env) && set -a && . ./keys.env && set +a
  pgreflect keys --asymmetric`,
  run: runKeys,
};

async function runKeys(context: CommandContext): Promise<number> {
  const names = ['jwtSecret', 'jwtKeys', 'anonRole', 'serviceRole'] as const;
  const { values } = loadOptionsOrThrow(names, context.sources);
  const [anonRole, serviceRole] = [values.anonRole!, values.serviceRole!];
  if (context.flags.asymmetric || values.jwtKeys !== null) {
    const key = values.jwtKeys === null ? await makeSigningKey() : findSigningKey(values.jwtKeys);
    if (key === null)
      refuse(
        'None of the keys of --jwt-keys has `sign` in key_ops.',
        'To create a key pair: pgreflect keys --asymmetric',
      );
    const signer: Signer = { kind: 'key', key };
    const made = await makeApiKeys(signer, anonRole, serviceRole);
    if (values.jwtKeys === null) context.print(`PGREFLECT_JWT_KEYS='${JSON.stringify([key])}'`);
    // For others who verify our tokens; the gateway itself needs only the line above.
    if (key.kty !== 'oct')
      context.print(`# Public part, a JSON Web Key Set: ${JSON.stringify({ keys: [toPublicKey(key)] })}`);
    printKeys(made.anonKey, made.serviceKey, context);
    return 0;
  }
  const secret = values.jwtSecret ?? makeSecret();
  const made = await makeApiKeys({ kind: 'secret', secret }, anonRole, serviceRole);
  // Without quotes where possible: not every reader of environment files takes them off.
  const plain = /^[\w.+/=-]+$/.test(secret);
  context.print(`PGREFLECT_JWT_SECRET=${plain ? secret : `'${secret.replaceAll("'", "'\\''")}'`}`);
  printKeys(made.anonKey, made.serviceKey, context);
  return 0;
}

function printKeys(anonKey: string, serviceKey: string, context: CommandContext): void {
  context.print('# For clients; can be public.');
  context.print(`PGREFLECT_ANON_KEY=${anonKey}`);
  context.print('# For trusted servers only; bypasses row security.');
  context.print(`PGREFLECT_SERVICE_KEY=${serviceKey}`);
}
