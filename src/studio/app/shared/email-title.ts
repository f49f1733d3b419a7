/** The name of an email on the pages. */
import { type EmailKind, emailKinds } from '../../../config/auth/email-kinds.ts';

/** The title of an email; a name that no email has stays. */
export function emailTitle(email: string): string {
  return isKind(email) ? emailKinds[email].title : email;
}

function isKind(email: string): email is EmailKind {
  return Object.hasOwn(emailKinds, email);
}
