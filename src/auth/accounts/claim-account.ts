/**
 * Decides what stays in an account when its address is first proved. Another person may have signed up with the address
 * and waited for its owner to prove it.
 *
 * The token that proves the address decides: what its own request has entered stays. Everything else goes, but only
 * where another request came. An admin's account stays as it is.
 */
import { mergeWhatFits } from '../model/metadata.ts';
import type { Entered, User } from '../model/user.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import type { Transaction } from '../steps/auth-context.ts';
import { endFlows, type FlowMethod } from '../store/flows.ts';
import {
  deleteIdentity, emailIdentityData, insertIdentity, phoneIdentityData, syncProviders, updateIdentityData,
} from '../store/identities.ts'; // biome-ignore format: a list of names
import { clearPending, type OneTimeTokenType } from '../store/one-time-tokens.ts';
import { endSessions, hasSessions } from '../store/sessions.ts';
import { noteAdmin, takeUnverifiedInput, type UnverifiedInput, withholdInput } from '../store/unverified-input.ts';
import { reloadUser, updateUser } from '../store/users.ts';

/** How an address was proven. */
export type Proof =
  /**
   * A token that was sent to the address. `by`: what the client presented; for the link of a PKCE flow, the verifier is
   * still to come, and `pkce` names the flow.
   */
  | {
      readonly by: 'code' | 'link' | 'pkce_link';
      readonly type: OneTimeTokenType;
      readonly pkce: FlowMethod | null;
    }
  /** No proof was needed, or it came in the session or request that entered the account's data. */
  | { readonly by: 'session' }
  /** An admin vouches for the address. */
  | { readonly by: 'admin' }
  /** A provider has verified the address. `isOwn`: the identity was in the account before. */
  | { readonly by: 'provider'; readonly external: ExternalUser; readonly isOwn: boolean };

type TokenProof = Extract<Proof, { type: OneTimeTokenType }>;

/** The identity that stays, with its new data. */
type KeptIdentity = Pick<ExternalUser, 'provider' | 'subject' | 'identityData'>;

type AddressKind = 'email' | 'phone';

/** Decides what stays, before the address counts as proved. @param user Locked; read before the token was used. */
export async function settleFirstProof(
  tx: Transaction,
  user: User,
  { address, proof }: { readonly address: AddressKind; readonly proof: Proof },
): Promise<User> {
  const entry = await takeUnverifiedInput(tx, user.id);
  // The email address that is still unproved is the admin's, too.
  if (entry?.enteredBy === 'admin' && address === 'phone' && user.email !== null) await noteAdmin(tx, user.id);
  if (entry?.enteredBy === 'admin' || proof.by === 'session') return user;
  if (proof.by === 'provider') return entry === null && proof.isOwn ? user : keepIdentity(tx, user, proof.external);
  if (proof.by === 'admin') return entry === null ? user : evict(tx, user, address, null);
  // A scanner that opens a stranger's link must not enter a password in an account that is in use.
  const mayLink = tx.config.security_link_keeps_password && (entry === null || (await isFree(tx, user, entry)));
  const isKeeping = proof.by === 'code' || mayLink;
  const entered = enteredWith(proof, user, entry);
  if (entered === user && isKeeping) return user;
  const alone = await evict(tx, user, address, proof.pkce);
  if (entered !== null && isKeeping) return enterAgain(tx, alone, entered);
  // Anybody may have opened the link. The verifier proves that the client is the one that signed up.
  if (entered !== null && proof.pkce !== null) await withholdInput(tx, user.id, entered, proof.pkce);
  return alone;
}

/** What the request that sent the token has entered: the account itself if it was its sign-up, null for nothing. */
function enteredWith({ type }: TokenProof, user: User, entry: UnverifiedInput | null): Entered | null {
  // A session of the account has named the new address.
  if (type === 'email_change_token_new' || type === 'email_change_token_current') return user;
  // A recovery or sign-in by email proves only that its owner reads the emails.
  if (type !== 'confirmation_token') return null;
  if (entry === null) return user;
  return entry.enteredBy === 'other' && entry.isNewest ? entry.entered : null;
}

/** Removes what others have entered in an account without a proved address, for whoever comes now. */
export async function clearAccount(tx: Transaction, user: User, address: AddressKind): Promise<User> {
  await takeUnverifiedInput(tx, user.id);
  return evict(tx, user, address, null);
}

/** Gives an account a password and metadata, also in the identity of its address. @returns The changed user. */
export async function enterAgain(tx: Transaction, user: User, entered: Entered): Promise<User> {
  const own = user.identities.find(({ provider, providerId }) => isAddress(provider) && providerId === user.id);
  const { userMetadata: data } = entered;
  // As at the sign-up: an address that the client claims in the identity would keep it from its owner.
  const { email: _claimed, ...identityData } = data;
  const userMetadata = mergeWhatFits(data, user.userMetadata);
  const writes = [
    updateUser(tx, user.id, { passwordHash: entered.passwordHash ?? '', userMetadata }),
    ...(own === undefined ? [] : [updateIdentityData(tx, own.id, mergeWhatFits(identityData, own.identityData))]),
  ];
  const [again] = await Promise.all([reloadUser(tx, user.id), ...writes]);
  return again;
}

/**
 * Whether an unproved account has nothing but what its sign-up entered. Whoever has more in it has used it, and can make
 * password and metadata look like those of another person.
 */
export async function isBare(tx: Transaction, user: User): Promise<boolean> {
  const { identities, factors, email, phone, emailChange, phoneChange } = user;
  const isOwn = identities.every(({ provider, providerId }) => isAddress(provider) && providerId === user.id);
  const hasOne = identities.length <= 1 && (email === null || phone === null);
  if (!isOwn || !hasOne || factors.length > 0 || emailChange !== '' || phoneChange !== '') return false;
  return !(await hasSessions(tx, user.id));
}

/** Whether an account without a proved address may be anybody's: nobody uses it, and no admin has prepared it. */
export async function isFree(tx: Transaction, user: User, entry: UnverifiedInput | null): Promise<boolean> {
  return user.invitedAt === null && entry?.enteredBy !== 'admin' && (await isBare(tx, user));
}

function isAddress(provider: string): boolean {
  return provider === 'email' || provider === 'phone';
}

/** Removes every way into an account except one identity of a provider. Does nothing if that is the only one. */
function keepIdentity(tx: Transaction, user: User, external: KeptIdentity): Promise<User> | User {
  const isAlone = user.identities.every((own) => isSameIdentity(own, external)) && !user.passwordHash;
  return isAlone ? user : evictExcept(tx, user, { identity: external, address: 'email', pkce: null });
}

/** Removes every way into an account except the address. @param pkce This flow stays. */
function evict(tx: Transaction, user: User, address: AddressKind, pkce: FlowMethod | null): Promise<User> {
  const { id, email } = user;
  const identityData = address === 'email' ? emailIdentityData(id, email ?? '', {}) : phoneIdentityData(id, {});
  return evictExcept(tx, user, { identity: { provider: address, subject: id, identityData }, address, pkce });
}

function isSameIdentity(own: User['identities'][number], { provider, subject }: KeptIdentity): boolean {
  return own.provider === provider && own.providerId === subject;
}

interface Kept {
  readonly identity: KeptIdentity;
  /** The address to keep; the other one is removed. */
  readonly address: AddressKind;
  /** This flow stays: any opener of the link learns its code, but only the client that has the verifier can use it. */
  readonly pkce: FlowMethod | null;
}

async function evictExcept(tx: Transaction, user: User, { identity, address, pkce }: Kept): Promise<User> {
  const { id } = user;
  const { provider, subject: providerId, identityData } = identity;
  const kept = user.identities.find((own) => isSameIdentity(own, identity));
  const other = address === 'email' ? { phone: null, phoneConfirmedAt: null } : { email: null, emailConfirmedAt: null };
  // In this order, in one round trip.
  const writes = [
    ...user.identities.filter((own) => own !== kept).map((own) => deleteIdentity(tx, own.id)),
    kept === undefined
      ? insertIdentity(tx, { userId: id, provider, providerId, identityData })
      : updateIdentityData(tx, kept.id, identityData),
    endSessions(tx, id, 'global', null),
    tx.query('delete from auth.mfa_factors f where f.user_id = $1::uuid', [id]),
    clearPending(tx, id),
    endFlows(tx, id, pkce),
    updateUser(tx, id, { ...other, passwordHash: '', userMetadata: identityData }),
    syncProviders(tx, id),
  ];
  const [alone] = await Promise.all([reloadUser(tx, id), ...writes]);
  return alone;
}
