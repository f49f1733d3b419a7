/**
 * What is wrong with a template, for whoever wrote it: Go's own words, and behind them what is most likely missing.
 */
import { nearestName } from '../../config/nearest-name.ts';
import { type EmailKind, emailKinds } from '../../email/email-kind.ts';
import type { TemplateError } from '../../email/template/template-error.ts';

/** One sentence without the place. @param email Whose template it is; null: that of a text message. */
export function describeFault(error: TemplateError, email: EmailKind | null): string {
  const hint = hintOf(error, email);
  return hint === null ? error.message : `${error.message} (${hint})`;
}

function hintOf({ code, message, unclosed }: TemplateError, email: EmailKind | null): string | null {
  if (unclosed !== null) {
    const missing = code === 'syntax' ? 'has no {{ end }}' : 'is never closed: look for a missing quote, > or end tag';
    return `\`${unclosed.text}\` of line ${unclosed.line} ${missing}`;
  }
  const [, name] = (code === 'unknown_function' && /^function "(.*)" not defined$/s.exec(message)) || [];
  const meant = name === undefined || email === null ? null : nearestName(name, emailKinds[email].variables);
  return meant === null ? null : `did you mean .${meant}?`;
}
