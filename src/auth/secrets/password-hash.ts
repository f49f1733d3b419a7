/**
 * Password hashes: makes bcrypt; verifies also Argon2 and Firebase scrypt, which databases of Supabase Auth may contain,
 * and PBKDF2 of other systems.
 *
 * Pure computation off the main thread; passwords.ts limits how many run at once. Every kind has limits on what a
 * computation may cost: anybody who knows an address can ask for one.
 */
import { argon2, createCipheriv, pbkdf2, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { sameBytes } from '../../shared/same-text.ts';

/** Cost of new hashes: 2^10 rounds. */
export const bcryptCost = 10;

/** Longest password in bytes; bcrypt ignores the rest. */
export const maxPasswordBytes = 72;

/** No sign-in could verify the hash. This is an operator's problem, not a wrong password. The message is a sentence. */
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
  return readHash(passwordHash)(password);
}

/** Whether a password is the one of a hash. */
type Check = (password: string) => Promise<boolean>;

/** Reads a hash without computing anything. @throws UnreadableHashError */
export function readHash(passwordHash: string): Check {
  // The length of the column.
  if (passwordHash.length > 255) throw new UnreadableHashError('The password hash has more than 255 characters.');
  if (passwordHash.startsWith('$2')) return readBcrypt(passwordHash);
  if (passwordHash.startsWith('$argon2')) return readArgon2(passwordHash);
  if (passwordHash.startsWith('$fbscrypt$')) return readFirebase(passwordHash);
  if (passwordHash.startsWith('$pbkdf2-')) return readPbkdf2(passwordHash);
  const reason = passwordHash.startsWith('{') ? 'is encrypted' : 'is of an unknown kind';
  throw new UnreadableHashError(`The password hash ${reason}, so it cannot be checked.`);
}

const mebibyte = 1024 * 1024;

/**
 * The most that a computation may use: memory, and memory times passes, which is a second or two of a processor. So are
 * the rounds of bcrypt and PBKDF2.
 */
const most = {
  memory: 256 * mebibyte,
  work: 1024 * mebibyte,
  parallelism: 64,
  bcryptCost: 16,
  pbkdf2Rounds: 2_000_000,
};

/** Shortest hash, and shortest key of a Firebase project, in bytes. A shorter one would match too many passwords. */
const minBytes = 16;

function unreadable(kind: string): UnreadableHashError {
  return new UnreadableHashError(`The ${kind} hash is malformed or has parameters out of range.`);
}

function readBcrypt(passwordHash: string): Check {
  const [, cost] = /^\$2[abxy]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(passwordHash) ?? [];
  // Without a match it is no number.
  if (!(Number(cost) >= 4 && Number(cost) <= most.bcryptCost)) throw unreadable('bcrypt');
  return async (password) => (await loadBcrypt()).verify(password, passwordHash);
}

const argon2Pattern =
  /^\$(argon2id?)\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,4})\$([A-Za-z0-9+/]+)=*\$([A-Za-z0-9+/]+)=*$/;

const computeArgon2 = promisify(argon2);

function readArgon2(passwordHash: string): Check {
  const [, algorithm, m, t, p, salt = '', expected = ''] = argon2Pattern.exec(passwordHash) ?? [];
  const [memory, passes, parallelism] = [Number(m), Number(t), Number(p)];
  const wanted = Buffer.from(expected, 'base64');
  const nonce = Buffer.from(salt, 'base64');
  const isAcceptable =
    1024 * memory <= most.memory && 1024 * memory * passes <= most.work && parallelism <= most.parallelism;
  // What RFC 9106 demands.
  const isValid = passes >= 1 && parallelism >= 1 && memory >= 8 * parallelism && nonce.length >= 8;
  if ((algorithm !== 'argon2i' && algorithm !== 'argon2id') || !isAcceptable || !isValid || wanted.length < minBytes) {
    throw unreadable('Argon2');
  }
  const parameters = { nonce, memory, passes, parallelism, tagLength: wanted.length };
  return async (message) => sameBytes(await computeArgon2(algorithm, { message, ...parameters }), wanted);
}

const firebasePattern =
  /^\$fbscrypt\$v=1,n=(?<n>\d{1,2}),r=(?<r>\d{1,3}),p=(?<p>\d{1,3})(?:,ss=(?<ss>[^,$]+))?(?:,sk=(?<sk>[^$]+))?\$(?<salt>[^$]+)\$(?<hash>.+)$/;

const computeScrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/** Firebase encrypts a key of the project with the derived key; the ciphertext is the hash. */
function readFirebase(passwordHash: string): Check {
  const parts = firebasePattern.exec(passwordHash)?.groups;
  const [n, r, p] = [Number(parts?.n), Number(parts?.r), Number(parts?.p)];
  const signer = Buffer.from(parts?.sk ?? '', 'base64');
  const wanted = Buffer.from(parts?.hash ?? '', 'base64');
  const memory = 128 * r * 2 ** n;
  const isAcceptable = memory <= most.memory && memory * p <= most.work && Math.min(n, r, p) >= 1;
  if (parts === undefined || Math.min(signer.length, wanted.length) < minBytes || !isAcceptable) {
    throw unreadable('Firebase');
  }
  const salt = Buffer.concat([Buffer.from(parts.salt ?? '', 'base64'), Buffer.from(parts.ss ?? '', 'base64')]);
  return async (password) => {
    const key = await computeScrypt(password, salt, 32, { N: 2 ** n, r, p, maxmem: 2 * most.memory });
    const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
    return sameBytes(Buffer.concat([cipher.update(signer), cipher.final()]), wanted);
  };
}

const pbkdf2Pattern =
  /^\$pbkdf2-(?<digest>sha1|sha256|sha512)\$i=(?<rounds>\d{1,9})(?:,l=(?<bytes>\d{1,3}))?\$(?<salt>[A-Za-z0-9+/]+)=*\$(?<hash>[A-Za-z0-9+/]+)=*$/;

const computePbkdf2 = promisify(pbkdf2);

function readPbkdf2(passwordHash: string): Check {
  const { digest = '', rounds, bytes, salt = '', hash = '' } = pbkdf2Pattern.exec(passwordHash)?.groups ?? {};
  const wanted = Buffer.from(hash, 'base64');
  const isWhole = wanted.length >= minBytes && wanted.length <= 64 && Number(bytes ?? wanted.length) === wanted.length;
  if (!isWhole || !(Number(rounds) >= 1 && Number(rounds) <= most.pbkdf2Rounds)) throw unreadable('PBKDF2');
  const nonce = Buffer.from(salt, 'base64');
  return async (password) =>
    sameBytes(await computePbkdf2(password, nonce, Number(rounds), wanted.length, digest), wanted);
}
