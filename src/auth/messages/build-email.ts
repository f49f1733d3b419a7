/**
 * An email to a user whose metadata may have been chosen by somebody else.
 */
import { buildMessage, type EmailMessage, type MessageData } from '../../email/message.ts';
import { TemplateError } from '../../email/template/template-error.ts';
import type { AuthContext } from '../steps/auth-context.ts';

/**
 * Builds the email, by the built-in texts where the configured ones fail with the data: whoever is in an account that is not
 * theirs could choose metadata with which they do, and its owner would hear of nothing and could not recover it.
 */
export function buildEmail(
  { config, services }: AuthContext,
  email: EmailMessage['kind'],
  data: MessageData,
): EmailMessage {
  try {
    return buildMessage(email, config, data);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    // Not its message, which may quote a value.
    const problem = `It fails with the data of this user (${error.code}).`;
    services.observe({ kind: 'template_refused', email, source: 'the configuration', problem, kept: 'built-in' });
    const builtIn = { [`mailer_subjects_${email}`]: null, [`mailer_templates_${email}_content`]: null };
    return buildMessage(email, { ...config, ...builtIn }, data);
  }
}
