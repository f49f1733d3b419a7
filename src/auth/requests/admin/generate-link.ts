/** Makes a link that an admin delivers: the same link as in an email, but no email is sent. */
import type { LinkKind } from '../../../config/auth/email-kinds.ts';
import { buildConfirmationUrl } from '../../../email/message/confirmation-url.ts';
import { about, anything, from, serializerOf, text, through, type ValueOf } from '../../../shared/schema.ts';
import {
  type CheckedPassword, checkPassword, isSamePerson, lastHash, noteSignUp,
} from '../../accounts/repeated-sign-up.ts'; // biome-ignore format: a list of names
import { type UserJson, userFields } from '../../answers/user-json.ts';
import { makeToken } from '../../messages/make-token.ts';
import { parseEmail } from '../../model/addresses.ts';
import { AuthError } from '../../model/auth-error.ts';
import { enterMetadata, type Metadata } from '../../model/metadata.ts';
import type { User } from '../../model/user.ts';
import { assertStrong, makePassword } from '../../secrets/password-policy.ts';
import { assertNoAdmin } from '../../steps/admin-user.ts';
import { type AuthContext, nowOf, onceMore, type Transaction, transact } from '../../steps/auth-context.ts';
import { bodySchema, metadata, needed, readFields } from '../../steps/request-body.ts';
import { type Admin, auditAdmin, auditUser } from '../../store/audit.ts';
import type { OneTimeTokenType } from '../../store/one-time-tokens.ts';
import { readUnverifiedInput } from '../../store/unverified-input.ts';
import { findUserByEmail, isEmailTaken, lockKnownUser, reloadUser, updateUser } from '../../store/users.ts';
import { insertEmailUser, prepareInvited } from './invite.ts';

const rows = {
  signup: { token: 'confirmation_token', kind: 'confirmation', link: 'signup' },
  invite: { token: 'confirmation_token', kind: 'invite', link: 'invite' },
  magiclink: { token: 'recovery_token', kind: 'magic_link', link: 'magiclink' },
  recovery: { token: 'recovery_token', kind: 'recovery', link: 'recovery' },
  email_change_current: { token: 'email_change_token_current', kind: 'email_change', link: 'email_change' },
  email_change_new: { token: 'email_change_token_new', kind: 'email_change', link: 'email_change' },
} as const satisfies Record<string, { token: OneTimeTokenType; kind: LinkKind; link: string }>;

type LinkType = keyof typeof rows;

interface Link {
  readonly user: User;
  readonly actionLink: string;
  readonly code: string;
  readonly linkToken: string;
  readonly type: LinkType;
  readonly redirectTo: string;
}

/** The answer: the user, and the link with its parts. */
export const linkSerializer = serializerOf<Link>('AuthLink', {
  ...through(userFields, ({ user }) => user),
  action_link: from(text, ({ actionLink }) => actionLink),
  email_otp: from(text, ({ code }) => code),
  hashed_token: from(text, ({ linkToken }) => linkToken),
  verification_type: from(anything({ enum: Object.keys(rows) }), ({ type }) => type),
  redirect_to: from(text, ({ redirectTo }) => redirectTo),
});

interface LinkRequest {
  readonly type: LinkType;
  readonly email: string;
  /** Empty for none. */
  readonly newEmail: string;
  /** Of a sign-up. */
  readonly checked: CheckedPassword;
  readonly data: Metadata;
}

const passwordLength = 33;

/** Fields of the body. */
export const linkBody = bodySchema({
  type: needed(about(text, { enum: Object.keys(rows) })), email: needed(text), new_email: text, password: text, data: metadata, redirect_to: text,
}); // biome-ignore format: a list of fields

/**
 * `POST /admin/generate_link`.
 *
 * @param isAllowed Whether the redirect of the body may be used; otherwise that of the request is.
 */
export async function generateLink(
  given: AuthContext,
  admin: Admin,
  body: unknown,
  isAllowed: (url: string) => boolean,
): Promise<UserJson> {
  const fields = readFields(body, linkBody);
  const own = fields.redirect_to;
  const context = own && isAllowed(own) ? { ...given, redirectTo: own } : given;
  return onceMore(async () => {
    const request = await readLinkRequest(context, fields);
    return transact(context, [], async (tx) => {
      const { user, type, noteEntered } = await prepare(tx, request, admin);
      assertNoAdmin(tx, admin, user);
      const made = await link(tx, user, { ...request, type });
      await auditLink(tx, admin, user, type);
      await noteEntered?.();
      return made;
    });
  });
}

async function readLinkRequest(context: AuthContext, fields: ValueOf<typeof linkBody>): Promise<LinkRequest> {
  const { config, services } = context;
  const refuse = (message: string) => new AuthError('validation_failed', message);
  const email = parseEmail(fields.email ?? '');
  const asked = fields.type ?? '';
  if (!Object.hasOwn(rows, asked)) throw refuse(`Invalid email action link type requested: ${asked.slice(0, 100)}`);
  const type = asked as LinkType;
  if (type === 'email_change_current' && !config.mailer_secure_email_change_enabled) {
    throw refuse('Enable secure email change to generate link for current email');
  }
  const isChange = type === 'email_change_current' || type === 'email_change_new';
  const newEmail = isChange ? parseEmail(fields.new_email ?? '') : '';
  const facts = { type, email, newEmail, data: fields.data ?? {} };
  if (type === 'signup') {
    if (!fields.password) throw refuse('Signup requires a valid password');
    await assertStrong(fields.password, config, services.isPwned);
    const known = await findUserByEmail(services.database, email, context.audience);
    const unproved = known?.emailConfirmedAt === null ? known : null;
    return { ...facts, checked: await checkPassword(context, unproved, fields.password) };
  }
  const password = type === 'magiclink' ? makePassword(passwordLength, config.password_required_characters) : null;
  return { ...facts, checked: await checkPassword(context, null, password) };
}

interface Prepared extends Pick<Link, 'user' | 'type'> {
  /** Runs once the token is stored. */
  readonly noteEntered?: () => Promise<void>;
}

/** The user, and the type of the link: for a new user, a magic link becomes a sign-up. */
async function prepare(tx: Transaction, request: LinkRequest, admin: Admin): Promise<Prepared> {
  const { type, email, newEmail, data } = request;
  const found = await findUserByEmail(tx, email, tx.audience);
  const known = found === null ? null : await lockKnownUser(tx, found);
  const recover = (user: User) =>
    auditUser(tx, 'user_recovery_requested', user, { user_id: user.id, user_email: user.email ?? '' });
  switch (type) {
    case 'signup':
      return prepareSignUp(tx, request, known);
    case 'invite': {
      const user = await prepareInvited(tx, email, data);
      await auditAdmin(tx, 'user_invited', admin, { user_id: user.id, user_email: user.email ?? '' });
      await updateUser(tx, user.id, { invitedAt: nowOf(tx) });
      return { user, type };
    }
    case 'magiclink':
      if (known === null) return prepareSignUp(tx, request, null);
      await recover(known);
      return { user: known, type };
    default:
      if (known === null) throw new AuthError('user_not_found', 'User with this email not found');
      if (type === 'recovery') await recover(known);
      else if (await isEmailTaken(tx, newEmail, tx.audience, known.id)) throw new AuthError('email_exists');
      else await updateUser(tx, known.id, { emailChange: newEmail, emailChangeConfirmStatus: 0 });
      return { user: known, type };
  }
}

/** A link that signs in names the operator who made it, where a request with the service key names the user. */
async function auditLink(tx: Transaction, admin: Admin, user: User, type: LinkType): Promise<void> {
  if (!('tokenId' in admin) || type === 'invite') return;
  const action = type === 'signup' ? 'user_confirmation_requested' : 'user_recovery_requested';
  await auditAdmin(tx, action, admin, { user_id: user.id, user_email: user.email ?? '', link_type: type });
}

/** The user of a sign-up that an admin makes for a person: the password is that person's. */
async function prepareSignUp(tx: Transaction, request: LinkRequest, known: User | null): Promise<Prepared> {
  const { email, data, checked } = request;
  const type = 'signup';
  if (known === null) {
    if (await isEmailTaken(tx, email, tx.audience)) throw new AuthError('email_exists');
    return { type, user: await insertEmailUser(tx, email, data, checked.passwordHash) };
  }
  const unverified = await readUnverifiedInput(tx, known.id);
  // Another request has just come; its password was not compared yet.
  if (known.emailConfirmedAt !== null || lastHash(known, unverified) !== checked.knownHash)
    throw new AuthError('email_exists');
  const userMetadata = enterMetadata(known.userMetadata, data);
  if (unverified?.enteredBy === 'admin') {
    await updateUser(tx, known.id, {
      userMetadata,
      ...(known.passwordHash === null ? { passwordHash: checked.passwordHash } : {}),
    });
    return { type, user: known };
  }
  const signUp = { ...checked, data, userMetadata: known.userMetadata };
  const isSame = await isSamePerson(tx, known, unverified, signUp);
  if (isSame && unverified === null) await updateUser(tx, known.id, { userMetadata });
  return {
    type,
    user: known,
    noteEntered: () => noteSignUp(tx, signUp, { user: known, unverified, isSame, before: null }),
  };
}

async function link(tx: Transaction, { id }: User, request: LinkRequest): Promise<UserJson> {
  const { type, email, newEmail } = request;
  const { token, kind, link: linkType } = rows[type];
  const address = type === 'email_change_new' ? newEmail : email;
  const { code, linkToken } = await makeToken(tx, { userId: id, type: token, address });
  const { redirectTo, authUrl, config, services } = tx;
  const recipient = { address, key: services.linkKeys()[0] };
  const actionLink = buildConfirmationUrl(kind, config, { authUrl, linkToken, redirectTo, type: linkType, recipient });
  return linkSerializer.print({ user: await reloadUser(tx, id), actionLink, code, linkToken, type, redirectTo });
}
