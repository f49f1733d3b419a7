/**
 * Every field of the auth configuration once, under its management API name.
 *
 * The source for start values (load-auth-config.ts), validation, the management API and the reference table. Fields of
 * Supabase Auth without effect here are elsewhere.
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

/** Headings of references, with the field names below each. */
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

/** Whether a name is one of our fields. */
export function isAuthFieldName(name: string): name is AuthFieldName {
  return Object.hasOwn(authFields, name);
}

/** A field's name in Supabase Auth's environment; null if it has none. */
export function originalVariable(name: AuthFieldName): string | null {
  const { environment } = authField(name);
  return environment === undefined ? `GOTRUE_${name.toUpperCase()}` : environment;
}
