/**
 * Decides what stays in an account when its address is first proved. Another person may have signed up with the address
 * and waited for its owner to confirm it.
 *
 * Who proves the address gets the account. Data entered before survives only with proof that the same person entered
 * it: the code of the sign-up email or the PKCE verifier of the sign-up, and no other sign-up with the address. An
 * opened link proves nothing, because mail scanners open links.
 */
import type { ExternalUser } from '../providers/external-user.ts';
import type { Transaction } from '../steps/auth-context.ts';
import { endFlows, type FlowMethod } from '../store/flows.ts';
import {
  deleteIdentity, emailIdentityData, insertIdentity, phoneIdentityData, syncProviders, updateIdentityData,
} from '../store/identities.ts'; // biome-ignore format: a list of names
import { clearTokens } from '../store/one-time-tokens.ts';
import { endSessions } from '../store/sessions.ts';
import { takeEntry, withholdEntry } from '../store/unproved-entries.ts';
import { noPendingChanges, reloadUser, updateUser } from '../store/users.ts';
import type { User } from '../user.ts';

/** How an address was proven. */
export type Proof =
  /** The code of the sign-up email or text message. */
  | { readonly by: 'code' }
  /** Anything else sent to the address. `pkce`: the flow whose verifier is still to come; null for none. */
  | { readonly by: 'message'; readonly pkce: FlowMethod | null }
  /** No proof was needed, or it came in the session or request that entered the account's data. */
  | { readonly by: 'session' }
  /** An admin vouches for the address. */
  | { readonly by: 'admin' }
  /** A provider has verified the address. */
  | { readonly by: 'provider'; readonly external: ExternalUser };

/** The identity that stays, with its new data. */
type KeptIdentity = Pick<ExternalUser, 'provider' | 'subject' | 'identityData'>;

/**
 * Decides what stays, before the address counts as proved.
 *
 * @param user Locked; the address was never proved.
 */
export async function settleFirstProof(
  tx: Transaction,
  user: User,
  { address, proof }: { readonly address: 'email' | 'phone'; readonly proof: Proof },
): Promise<User> {
  const keptBy = await takeEntry(tx, user.id);
  if (keptBy === 'admin' || proof.by === 'session' || (keptBy === 'code' && proof.by === 'code')) return user;
  if (proof.by === 'provider') return claimAccount(tx, user, proof.external);
  const pkce = proof.by === 'message' ? proof.pkce : null;
  const alone = await evict(tx, user, { identity: ownIdentity(user, address), address, pkce });
  // The verifier of a sign-up belongs to the person who entered the data. Verifiers of other requests do not.
  const isOwn = pkce === 'email/signup' || pkce === 'email_change';
  if (keptBy === 'code' && isOwn) await withholdEntry(tx, user, pkce);
  return alone;
}

/** Removes every way into an account except one identity of a provider. Does nothing if that is the only one. */
export async function claimAccount(tx: Transaction, user: User, external: KeptIdentity): Promise<User> {
  const isAlone = user.identities.every((own) => isSame(own, external)) && !user.passwordHash;
  return isAlone ? user : evict(tx, user, { identity: external, address: 'email', pkce: null });
}

function ownIdentity({ id, email }: User, address: 'email' | 'phone'): KeptIdentity {
  const identityData = address === 'email' ? emailIdentityData(id, email ?? '', {}) : phoneIdentityData(id, {});
  return { provider: address, subject: id, identityData };
}

function isSame(own: User['identities'][number], { provider, subject }: KeptIdentity): boolean {
  return own.provider === provider && own.providerId === subject;
}

interface Kept {
  readonly identity: KeptIdentity;
  /** The address to keep; the other one is removed. */
  readonly address: 'email' | 'phone';
  /** This flow stays: any opener of the link learns its code, but only the client that has the verifier can use it. */
  readonly pkce: FlowMethod | null;
}

async function evict(tx: Transaction, user: User, { identity, address, pkce }: Kept): Promise<User> {
  const { id } = user;
  const { provider, subject: providerId, identityData } = identity;
  const kept = user.identities.find((own) => isSame(own, identity));
  const other = address === 'email' ? { phone: null, phoneConfirmedAt: null } : { email: null, emailConfirmedAt: null };
  // In this order, in one round trip.
  const writes = [
    ...user.identities.filter((own) => own !== kept).map((own) => deleteIdentity(tx, own.id)),
    kept === undefined
      ? insertIdentity(tx, { userId: id, provider, providerId, identityData })
      : updateIdentityData(tx, kept.id, identityData),
    endSessions(tx, id, 'global', null),
    tx.query('delete from auth.mfa_factors f where f.user_id = $1::uuid', [id]),
    clearTokens(tx, id),
    endFlows(tx, id, pkce),
    updateUser(tx, id, { ...noPendingChanges, ...other, passwordHash: '', userMetadata: identityData }),
    syncProviders(tx, id),
  ];
  const [alone] = await Promise.all([reloadUser(tx, id), ...writes]);
  return alone;
}
