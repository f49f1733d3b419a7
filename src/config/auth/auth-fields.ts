/**
 * Every field of the auth configuration once, under the name that the management API gives it.
 *
 * Start values (load-auth-config.ts), validation, the management API and the reference table all come from here.
 * Fields of Supabase Auth that have no effect here are not among them.
 */
import { deliveryFields } from './auth-delivery-fields.ts';
import type { AuthField } from './auth-field.ts';
import { hookFields } from './auth-hook-fields.ts';
import { providerFields } from './auth-provider-fields.ts';
import { signInFields } from './auth-sign-in-fields.ts';
import { smsFields } from './auth-sms-fields.ts';
import { templateFields } from './auth-template-fields.ts';

/** The fields, in the order of the reference. */
export const authFields = {
  ...signInFields,
  ...deliveryFields,
  ...smsFields,
  ...templateFields,
  ...providerFields,
  ...hookFields,
};

/** Headings of references, with the names of the fields below each. */
export const authGroups: Readonly<Record<string, readonly AuthFieldName[]>> = {
  'Auth: users, passwords and sessions': Object.keys(signInFields) as AuthFieldName[],
  'Auth: emails and limits': Object.keys(deliveryFields) as AuthFieldName[],
  'Auth: providers of text messages': Object.keys(smsFields) as AuthFieldName[],
  'Auth: texts of emails': Object.keys(templateFields) as AuthFieldName[],
  'Auth: providers': Object.keys(providerFields) as AuthFieldName[],
  'Auth: hooks': Object.keys(hookFields) as AuthFieldName[],
};

/** Name of a field. */
export type AuthFieldName = keyof typeof authFields;

/** Names of all fields. */
export const authFieldNames = Object.keys(authFields) as readonly AuthFieldName[];

/** A field, without the type of its value. */
export function authField(name: AuthFieldName): AuthField<unknown> {
  return authFields[name] as AuthField<unknown>;
}

/** Whether we give the name a meaning. */
export function isAuthFieldName(name: string): name is AuthFieldName {
  return Object.hasOwn(authFields, name);
}

/** Name of a field in the environment of Supabase Auth; null where it has none. */
export function originalVariable(name: AuthFieldName): string | null {
  const { environment } = authField(name);
  return environment === undefined ? `GOTRUE_${name.toUpperCase()}` : environment;
}
