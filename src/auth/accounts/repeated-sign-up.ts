/**
 * A sign-up with an address that has an account without a proof: whether it is of the person who signed up last, and what
 * it enters if not. What a session of the account could have shaped proves nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Metadata } from '../model/metadata.ts';
import type { User } from '../model/user.ts';
import type { AuthContext, Transaction } from '../steps/auth-context.ts';
import { noteOther, readUnverifiedInput, type UnverifiedInput } from '../store/unverified-input.ts';
import { isBare } from './claim-account.ts';

/** The password of a sign-up, compared before the transaction. */
export interface CheckedPassword {
  /** Null: the user signs in without a password, or sets one later. */
  readonly password: string | null;
  /** Its hash, that of the last sign-up if it is the same password; null without a password. */
  readonly passwordHash: string | null;
  /** Whether it is the password that the last sign-up with the address has entered. */
  readonly isKnown: boolean;
  /** Hash that it was compared with; null for none. */
  readonly knownHash: string | null;
}

/** A sign-up for an address that has an account. */
interface RepeatedSignUp extends CheckedPassword {
  readonly data: Metadata;
  /** The metadata that a new account would get. */
  readonly userMetadata: Metadata;
}

/** Compares or hashes the password. Runs outside the transaction, because it takes long. @param unproved Null: none has the address. */
export async function checkPassword(
  context: AuthContext,
  unproved: User | null,
  password: string | null,
): Promise<CheckedPassword> {
  const { hasher, database } = context.services;
  const entry = unproved === null ? null : await readUnverifiedInput(database, unproved.id);
  const knownHash = unproved === null ? null : lastHash(unproved, entry);
  if (password === null)
    return { password, passwordHash: null, isKnown: unproved !== null && knownHash === null, knownHash };
  const isKnown = knownHash !== null && (await hasher.verify(password, knownHash, context.deadline));
  const passwordHash = isKnown ? knownHash : await hasher.hash(password, context.deadline);
  return { password, passwordHash, isKnown, knownHash };
}

/** Password hash of the last sign-up with an unproved address; null for none. */
export function lastHash(user: User, entry: UnverifiedInput | null): string | null {
  return entry?.enteredBy === 'other' ? (entry.entered?.passwordHash ?? null) : user.passwordHash;
}

/** Whether the last sign-up was of the same person: the password matches, or without one, the request enters nothing else. */
export async function isSamePerson(
  tx: Transaction,
  known: User,
  entry: UnverifiedInput | null,
  { password, isKnown, data, userMetadata }: RepeatedSignUp,
): Promise<boolean> {
  if (entry?.enteredBy === 'other') return isKnown && password !== null;
  if (!isKnown || !(await isBare(tx, known))) return false;
  return password !== null || Object.keys(data).length === 0 || isDeepStrictEqual(known.userMetadata, userMetadata);
}

/** What was there before a sign-up. */
interface LastSignUp {
  readonly user: User;
  readonly unverified: UnverifiedInput | null;
  /** Whether the sign-up is of the same person. */
  readonly isSame: boolean;
  /** The user's confirmation (`findConfirmation`). */
  readonly before: string | null;
}

/**
 * Notes what the sign-up has entered, which the confirmation that it has sent proves. A third one proves the address
 * alone: nobody can tell whose turn it is then.
 *
 */
export async function noteSignUp(
  tx: Transaction,
  { passwordHash, data }: RepeatedSignUp,
  { user: { id }, unverified, isSame, before }: LastSignUp,
): Promise<void> {
  if (unverified === null && !isSame) await noteOther(tx, id, before, { passwordHash, userMetadata: data });
  if (unverified?.enteredBy === 'other') await noteOther(tx, id, before, isSame ? unverified.entered : null);
}
