/**
 * Text messages of the provider `capture`: kept in the inbox beside the captured emails instead of being sent, for tests and
 * for the first steps without a contract with anybody.
 */
import type { SystemSession } from '../database/run-system.ts';
import { renderTemplate } from '../email/template/template.ts';
import { cachedTemplate } from '../email/template-cache.ts';
import type { TextMessage } from './flows/text-message.ts';
import { randomUuid } from './random.ts';
import { toTimestamp } from './times.ts';
import type { Tools } from './tools.ts';

/** The text of a message. @throws TemplateError */
export function renderText({ code, template }: Pick<TextMessage, 'code' | 'template'>): string {
  return renderTemplate(cachedTemplate(template, { kind: 'text' }), { Code: code });
}

/**
 * Keeps a message.
 *
 * @param database Connections that no waiting request holds.
 * @returns An id of the message.
 */
export async function captureText(database: SystemSession, message: TextMessage, tools: Tools): Promise<string> {
  const text = renderText(message);
  await database.query(
    `insert into auth.pgreflect_captured_email (captured_at, kind, sender, recipient, subject, html, text, source)
    values ($1::timestamptz, 'sms', '', $2, $3, '', $3, $3)`,
    [toTimestamp(tools.clock.now()), message.to, text.replaceAll('\0', '')],
  );
  return randomUuid(tools.random);
}
