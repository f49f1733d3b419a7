/**
 * Password hashes: makes bcrypt; verifies bcrypt, Argon2 and Firebase scrypt, which databases of Supabase Auth may
 * contain.
 *
 * Pure computation off the main thread; passwords.ts limits how many run at once.
 */
import { argon2, createCipheriv, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { sameBytes } from '../../shared/same-text.ts';

/** Cost of new hashes: 2^10 rounds. */
export const bcryptCost = 10;

/** Longest password in bytes; bcrypt ignores the rest. */
export const maxPasswordBytes = 72;

/** The hash has an unsupported type or encryption. This is an operator's problem, not a wrong password. */
export class UnreadableHashError extends Error {
  override readonly name = 'UnreadableHashError';
}

/** Native code, loaded with the first password: a gateway without sign-ins does not need it. */
const loadBcrypt = () => import('@node-rs/bcrypt');

/** A new hash. */
export async function makeHash(password: string, cost: number = bcryptCost): Promise<string> {
  const { hash } = await loadBcrypt();
  return hash(password, { cost });
}

/** Whether a hash has another type or cost than new hashes. */
export function isOutdated(passwordHash: string, wanted: number = bcryptCost): boolean {
  const [, cost] = /^\$2[abxy]?\$(\d\d)\$/.exec(passwordHash) ?? [];
  return Number(cost) !== wanted;
}

/** Whether the password has that hash. @throws UnreadableHashError */
export async function checkHash(password: string, passwordHash: string): Promise<boolean> {
  if (passwordHash.startsWith('$2')) return (await loadBcrypt()).verify(password, passwordHash);
  if (passwordHash.startsWith('$argon2')) return checkArgon2(password, passwordHash);
  if (passwordHash.startsWith('$fbscrypt$')) return checkFirebase(password, passwordHash);
  const reason = passwordHash.startsWith('{') ? 'is encrypted' : 'is of an unknown kind';
  throw new UnreadableHashError(`A stored password hash ${reason}, so it cannot be checked.`);
}

/** Limits on stored parameters: a hash in a row must not use up the memory (KiB) or a minute of processor time. */
const most = { memoryKib: 1024 * 1024, passes: 64, parallelism: 64, scryptBytes: 512 * 1024 * 1024 };

const argon2Pattern =
  /^\$(argon2id?|argon2i)\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,4})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const computeArgon2 = promisify(argon2);

async function checkArgon2(password: string, passwordHash: string): Promise<boolean> {
  const [, algorithm, m, t, p, salt = '', expected = ''] = argon2Pattern.exec(passwordHash) ?? [];
  const [memory, passes, parallelism] = [Number(m), Number(t), Number(p)];
  const isAcceptable = memory <= most.memoryKib && passes <= most.passes && parallelism <= most.parallelism;
  if ((algorithm !== 'argon2i' && algorithm !== 'argon2id') || !isAcceptable) {
    throw new UnreadableHashError('A stored Argon2 hash is malformed or has parameters out of range.');
  }
  const wanted = Buffer.from(expected, 'base64');
  const nonce = Buffer.from(salt, 'base64');
  const parameters = { message: password, nonce, memory, passes, parallelism, tagLength: wanted.length };
  return sameBytes(await computeArgon2(algorithm, parameters), wanted);
}

const firebasePattern =
  /^\$fbscrypt\$v=1,n=(?<n>\d{1,2}),r=(?<r>\d{1,3}),p=(?<p>\d{1,3})(?:,ss=(?<ss>[^,$]+))?(?:,sk=(?<sk>[^$]+))?\$(?<salt>[^$]+)\$(?<hash>.+)$/;

const computeScrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/**
 * Shortest key of a project, and shortest hash, in bytes; Firebase's have 64. A shorter hash would match too many
 * passwords.
 */
const leastFirebaseBytes = 16;

/** Firebase encrypts a key of the project with the derived key; the ciphertext is the hash. */
async function checkFirebase(password: string, passwordHash: string): Promise<boolean> {
  const parts = firebasePattern.exec(passwordHash)?.groups;
  const [n, r, p] = [Number(parts?.n), Number(parts?.r), Number(parts?.p)];
  const signer = Buffer.from(parts?.sk ?? '', 'base64');
  const wanted = Buffer.from(parts?.hash ?? '', 'base64');
  const isHollow = Math.min(signer.length, wanted.length) < leastFirebaseBytes;
  if (parts === undefined || isHollow || 128 * r * 2 ** n > most.scryptBytes) {
    throw new UnreadableHashError('A stored Firebase hash is malformed or has parameters out of range.');
  }
  const salt = Buffer.concat([Buffer.from(parts.salt ?? '', 'base64'), Buffer.from(parts.ss ?? '', 'base64')]);
  const key = await computeScrypt(password, salt, 32, { N: 2 ** n, r, p, maxmem: 2 * most.scryptBytes });
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  const actual = Buffer.concat([cipher.update(signer), cipher.final()]);
  return sameBytes(actual, wanted);
}
