/**
 * Fields of the auth configuration for the 13 emails: subject and body of each, and a switch for the seven notifications.
 *
 * A null or empty text stands for the built-in one, which the sender knows.
 */
import { type AuthField, boolean, field, string } from './auth-field.ts';
import { checkSubject } from './auth-value-checks.ts';

/** Emails that a request of the user causes. */
export const authenticationEmails = [
  'confirmation', 'magic_link', 'recovery', 'invite', 'reauthentication', 'email_change',
] as const; // biome-ignore format: a list of names

/** Emails that tell of a change, each off until switched on. */
export const notificationEmails = [
  'password_changed', 'email_changed', 'phone_changed', 'mfa_factor_enrolled', 'mfa_factor_unenrolled', 'identity_linked',
  'identity_unlinked',
] as const; // biome-ignore format: a list of names

type Authentication = (typeof authenticationEmails)[number];
type Notification = (typeof notificationEmails)[number];

/** Name of an email as its fields have it: `recovery`, `password_changed_notification`. */
export type EmailName = Authentication | `${Notification}_notification`;

/** The rows. */
export type TemplateFields = { readonly [K in EmailName as `mailer_subjects_${K}`]: AuthField<string | null> } & {
  readonly [K in EmailName as `mailer_templates_${K}_content`]: AuthField<string | null>;
} & { readonly [K in Notification as `mailer_notifications_${K}_enabled`]: AuthField<boolean> };

/** The email whose body a field holds; null for other fields. */
export function emailOfContent(field: string): EmailName | null {
  const [, email] = /^mailer_templates_(.+)_content$/.exec(field) ?? [];
  return (email as EmailName | undefined) ?? null;
}

/** Largest body in bytes. */
export const maxTemplateBytes = 1_000_000;

/** The rows, in the order of the list of emails. */
export const templateFields = makeFields();

function makeFields(): TemplateFields {
  const rows: Record<string, AuthField<never>> = {};
  const add = (name: string, row: AuthField<string | null> | AuthField<boolean>) => {
    rows[name] = row as unknown as AuthField<never>;
  };
  for (const email of authenticationEmails) addTexts(email, `auth.email.template.${email}`, add);
  for (const email of notificationEmails) {
    const table = `auth.email.notification.${email}`;
    addTexts(`${email}_notification`, table, add);
    const doc = `Send the ${email.replaceAll('_', ' ')} notification.`;
    add(
      `mailer_notifications_${email}_enabled`,
      field({
        kind: boolean,
        default: false,
        file: { table, key: 'enabled' },
        like: { placeholder: 'CHANGE', word: email },
        doc,
      }),
    );
  }
  return rows as unknown as TemplateFields;
}

function addTexts(email: EmailName, table: string, add: (name: string, row: AuthField<string | null>) => void): void {
  const words = email.replaceAll('_', ' ');
  const like = { placeholder: 'EMAIL', word: email };
  add(
    `mailer_subjects_${email}`,
    field<string | null>({
      kind: string(checkSubject, 4000),
      default: null,
      file: { table, key: 'subject' },
      like,
      doc: `Subject of the ${words} email; empty: the built-in one.`,
    }),
  );
  add(
    `mailer_templates_${email}_content`,
    field<string | null>({
      kind: string(() => null, maxTemplateBytes),
      default: null,
      environment: `GOTRUE_MAILER_TEMPLATES_${email.toUpperCase()}`,
      file: { table, key: 'content' },
      like,
      doc: `Body of the ${words} email; empty: the built-in one.`,
    }),
  );
}
