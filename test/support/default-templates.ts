/** The built-in English emails, by kind: what is in force where nobody has set anything. */

import { type EmailKind, emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { builtIn } from '../../src/email/built-in/built-in.ts';

export const defaultTemplates = Object.fromEntries(
  emailKindNames.map((kind) => {
    const { subject, content } = builtIn(kind, 'en');
    return [kind, { subject, content }];
  }),
) as Readonly<Record<EmailKind, { readonly subject: string; readonly content: string }>>;
