/** The verification types of requests: the tokens that each type accepts, and what a token then proves. */
import type { FlowMethod } from '../store/flows.ts';
import type { OneTimeTokenType } from '../store/one-time-tokens.ts';

/** The purpose of a token, once known. */
export type VerificationKind =
  | 'signup' | 'invite' | 'magiclink' | 'recovery' | 'email_change' | 'sms' | 'phone_change'; // biome-ignore format: a list

/** A type in a request. `email` accepts either of two tokens. */
export type VerificationType = VerificationKind | 'email';

const tokens = {
  signup: ['confirmation_token'],
  invite: ['confirmation_token'],
  magiclink: ['recovery_token'],
  recovery: ['recovery_token'],
  email: ['confirmation_token', 'recovery_token'],
  email_change: ['email_change_token_current', 'email_change_token_new'],
  sms: ['confirmation_token'],
  phone_change: ['phone_change_token'],
} as const satisfies Record<VerificationType, readonly OneTimeTokenType[]>;

/** Names of all types. */
export const verificationTypes: readonly string[] = Object.keys(tokens);

/** The type of that name, or null. */
export function findVerificationType(name: string): VerificationType | null {
  return Object.hasOwn(tokens, name) ? (name as VerificationType) : null;
}

/** The tokens accepted for a type, in the order of the checks. */
export function tokensOf(type: VerificationType): readonly OneTimeTokenType[] {
  return tokens[type];
}

/** Whether the address of the type is a phone number. */
export function isPhoneType(type: VerificationType): type is 'sms' | 'phone_change' {
  return type === 'sms' || type === 'phone_change';
}

/** The kind of verification that a token of a type stands for. */
export function resolveKind(type: VerificationType, token: OneTimeTokenType): VerificationKind {
  if (type !== 'email') return type;
  return token === 'recovery_token' ? 'magiclink' : 'signup';
}

/** The method of the flow that the request of such a token stored, in the PKCE flow. Text messages store none. */
export function flowMethodOf(kind: VerificationKind): FlowMethod | null {
  if (isPhoneType(kind)) return null;
  return kind === 'signup' ? 'email/signup' : kind;
}
