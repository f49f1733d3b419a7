/**
 * Takes an address or number from the account that has it and never proved it. Where no proof is needed, an account that
 * somebody uses or an admin has prepared keeps it.
 */
import type { User } from '../model/user.ts';
import type { Transaction } from '../steps/auth-context.ts';
import { isAddressHeld, releaseAddress } from '../store/pending-changes.ts';
import { readUnverifiedInput } from '../store/unverified-input.ts';
import { findUserByEmail, findUserByPhone } from '../store/users.ts';
import { isFree } from './claim-account.ts';

/** An address that a user is about to get. */
interface Taken {
  readonly kind: 'email' | 'phone';
  /** Email address in lower case, or digits. */
  readonly address: string;
  /** Whether it was proved to be the user's. */
  readonly isProved: boolean;
}

/** @returns False if another account keeps the address. */
export async function takeAddress(
  tx: Transaction,
  user: Pick<User, 'id' | 'audience'>,
  { kind, address, isProved }: Taken,
): Promise<boolean> {
  if (!isProved && !(await isForAnybody(tx, user, kind, address))) return false;
  await releaseAddress(tx, kind, address, user);
  return true;
}

async function isForAnybody(
  tx: Transaction,
  { id, audience: own }: Pick<User, 'id' | 'audience'>,
  kind: Taken['kind'],
  address: string,
): Promise<boolean> {
  const audience = own ?? tx.audience;
  if (await isAddressHeld(tx, kind, address, { id, audience })) return false;
  const find = kind === 'email' ? findUserByEmail : findUserByPhone;
  const owner = await find(tx, address, audience);
  return owner === null || owner.id === id || isFree(tx, owner, await readUnverifiedInput(tx, owner.id));
}
