/** Builds an email to a user, whose metadata an attacker may have chosen. */
import { textFields, translationsField } from '../../config/auth/auth-template-fields.ts';
import { refusedUrl } from '../../email/engine/escape/escape-url.ts';
import { TemplateError } from '../../email/engine/template-error.ts';
import { buildMessage, type EmailMessage, type MessageData } from '../../email/message/message.ts';
import type { AuthContext } from '../steps/auth-context.ts';

/** Builds the email from the configured templates. Logs once if a value has a type that they do not expect. */
export function buildConfigured(
  { config, services }: AuthContext,
  email: EmailMessage['kind'],
  data: MessageData,
): EmailMessage {
  let isTold = false;
  const message = buildMessage(email, config, data, {
    onWarning(part, line) {
      if (!isTold) services.observe({ kind: 'template_tolerated', email, part, line });
      isTold = true;
    },
  });
  // The recipient sees a link that does nothing, and nobody else would know.
  if (message.html.includes(refusedUrl)) {
    const [, scheme = ''] = /^([a-z][a-z\d+.-]*):/i.exec(data.redirectTo) ?? [];
    services.observe({ kind: 'link_filtered', email, redirectScheme: scheme });
  }
  return message;
}

/**
 * Builds the email, from the built-in templates if the configured ones fail with the data. Otherwise an attacker inside
 * an account could choose metadata that makes them fail; the owner would get no notice and could not recover it.
 */
export function buildEmail(context: AuthContext, email: EmailMessage['kind'], data: MessageData): EmailMessage {
  const { config, services } = context;
  try {
    return buildConfigured(context, email, data);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    // Leave out the error's message, which may quote a value.
    const problem = `It fails with the data of this user (${error.code}).`;
    services.observe({ kind: 'template_refused', email, source: 'the configuration', problem, kept: 'built-in' });
    const builtIn = Object.fromEntries(
      [...Object.values(textFields(email)), translationsField(email)].map((field) => [field, null]),
    );
    const alone = { mailer_layout_content: null, mailer_partials: null };
    return buildMessage(email, { ...config, ...builtIn, ...alone }, data);
  }
}
