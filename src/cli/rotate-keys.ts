/**
 * `pgreflect keys --rotate`, `--standby` and `--retire`: replaces the file of the keys, or prints the keys. Without any, they are
 * those of the project that `pgreflect start` keeps in the directory. A file is replaced as a whole: a gateway that looks at
 * it reads the keys before or the keys after.
 */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isSigner, type JsonWebKeyMember } from '../config/json-web-keys.ts';
import { type ApiKeys, findSigningKey, makeApiKeys } from '../config/keys.ts';
import {
  addStandby,
  hasStandby,
  promoteStandby,
  retireOld,
  type SigningKeys,
  secretKey,
} from '../config/rotate-keys.ts';
import { type CommandContext, failCommand, flagText, resolveTypedPath } from './shared/command.ts';
import { projectDirectory, readProject, writeProject } from './shared/local-project.ts';

interface GivenKeys {
  readonly jwtSecret: string | null;
  readonly jwtKeys: SigningKeys | null;
  readonly anonRole: string | null;
  readonly serviceRole: string | null;
}

/** Changes the keys. @param source The file that they came from. @returns New API keys; null where the one that signs is the same. */
export async function rotateKeys(
  given: GivenKeys,
  source: string | null,
  context: CommandContext,
): Promise<ApiKeys | null> {
  const directory = projectDirectory(context.sources.workingDirectory);
  const out = flagText(context, 'out');
  const isGiven = given.jwtSecret !== null || given.jwtKeys !== null || out !== null;
  const project = isGiven ? null : readProject(directory);
  const before = project === null ? presentKeys(given) : (project.jwtKeys ?? [secretKey(project.jwtSecret)]);
  const after = await changeKeys(before, context);
  const [signer, old] = [findSigningKey(after), findSigningKey(before)];
  const isOther = signer !== null && signer !== old;
  const apiKeys = isOther ? await makeApiKeys(signer, given.anonRole!, given.serviceRole!) : null;
  if (project === null) keepKeys(after, given, { out, source, context });
  else writeProject(directory, { ...project, jwtKeys: after, ...apiKeys });
  for (const key of after) context.note(`${nameOf(key)} ${stateOf(key, after)}.`);
  const kept = after.map(nameOf);
  for (const name of before.map(nameOf)) if (!kept.includes(name)) context.note(`${name} was removed.`);
  return apiKeys;
}

interface Place {
  readonly out: string | null;
  readonly source: string | null;
  readonly context: CommandContext;
}

function keepKeys(after: SigningKeys, { jwtKeys }: GivenKeys, { out, source, context }: Place): void {
  const file = out === null ? source : resolveTypedPath(context, out);
  const text = JSON.stringify(after, null, file === null ? undefined : 2);
  if (file === null) context.print(`PGREFLECT_JWT_KEYS='${text}'`);
  else replaceFile(file, `${text}\n`);
  if (jwtKeys === null)
    context.note('Remove jwt_secret (PGREFLECT_JWT_SECRET) where you set jwt_keys: the secret is one of the keys now.');
}

function presentKeys({ jwtKeys, jwtSecret }: Pick<GivenKeys, 'jwtKeys' | 'jwtSecret'>): SigningKeys {
  if (jwtKeys === null && jwtSecret === null)
    failCommand(
      'There is no key to rotate.',
      'Give --jwt-keys FILE, or --jwt-secret SECRET, or run it in the directory of a project of `pgreflect start`.',
    );
  const keys = jwtKeys ?? [];
  if (findSigningKey(keys) !== null) return jwtSecret === null ? keys : [...keys, asOld(secretKey(jwtSecret))];
  if (jwtSecret === null) failCommand('None of the keys of --jwt-keys has `sign` in key_ops.');
  return [secretKey(jwtSecret), ...keys];
}

function asOld(key: JsonWebKeyMember): JsonWebKeyMember {
  return { ...key, key_ops: ['verify'] };
}

async function changeKeys(keys: SigningKeys, { flags }: CommandContext): Promise<SigningKeys> {
  const { rotate, standby, retire, asymmetric } = flags;
  if ([rotate, standby, retire].filter(Boolean).length > 1)
    failCommand('--rotate, --standby and --retire are steps of their own.', 'Give one of them at a time.');
  if (retire) return retireOld(keys);
  if (standby && hasStandby(keys))
    failCommand('There is a standby key already.', 'pgreflect keys --rotate lets it sign.');
  const next = hasStandby(keys) ? keys : await addStandby(keys, Boolean(asymmetric));
  return standby ? next : promoteStandby(next);
}

function nameOf({ kid, kty }: JsonWebKeyMember): string {
  if (kid !== undefined) return `The key ${kid}`;
  return kty === 'oct' ? 'The secret without an id' : 'The key without an id';
}

function stateOf(key: JsonWebKeyMember, keys: SigningKeys): string {
  if (isSigner(key)) return 'signs';
  return keys.indexOf(key) < keys.findIndex(isSigner) ? 'is on standby: it verifies' : 'verifies';
}

/**
 * Readable for its owner alone, or its group where it was before: root replaces the file of a service, which still has to read it. A link
 * stays one: what it names is replaced. @throws CommandError
 */
function replaceFile(path: string, text: string): void {
  try {
    const target = realPath(path);
    const made = join(dirname(target), `.${basename(target)}.${process.pid}`);
    try {
      const file = openSync(made, 'wx', 0o600);
      try {
        const before = statSync(target, { throwIfNoEntry: false });
        if (before !== undefined) {
          fchownSync(file, before.uid, before.gid);
          if ((before.mode & 0o044) === 0o040) fchmodSync(file, 0o640);
        }
        writeFileSync(file, text);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(made, target);
    } catch (error) {
      rmSync(made, { force: true });
      throw error;
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    failCommand(`"${path}" cannot be written (${code}); it is as it was.`, 'Check the folder and its permissions.');
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
