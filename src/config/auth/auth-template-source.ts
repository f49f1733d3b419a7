/** The source of an email body outside the configuration: a file or an address, read again after each change. */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EmailKind } from './email-kinds.ts';

/** Where a body is read from. */
export type TemplateSource =
  | { readonly kind: 'file'; readonly path: string; readonly origin: string }
  /** An absolute URL, or a path relative to the site URL of the start values. */
  | { readonly kind: 'remote'; readonly location: string; readonly origin: string };

/** The sources by email; an email without one has its body in the configuration, or the built-in one. */
export type TemplateSources = Readonly<Partial<Record<EmailKind, TemplateSource>>>;

/**
 * The source that a variable or flag names; null if it contains the body itself. Text is inline if it has a line break,
 * `<` or `{{`. A path with a leading slash is a file only if that exists, because Supabase Auth joins it to the site
 * URL.
 *
 * @param origin The variable or flag, for messages.
 * @throws Error with the rest of a sentence.
 */
export function locateTemplate(text: string, origin: string, workingDirectory: string): TemplateSource | null {
  if (text.trim() === '' || /[\n<]|\{\{/.test(text)) return null;
  if (/^file:/i.test(text)) return { kind: 'file', path: toPath(text), origin };
  const isPath = /^\.{0,2}\//.test(text);
  const path = isAbsolute(text) ? text : join(workingDirectory, text);
  if (isPath && (!text.startsWith('/') || existsSync(path))) return { kind: 'file', path, origin };
  return { kind: 'remote', location: text, origin };
}

function toPath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw new Error('must be the address of a file of this machine, such as file:///etc/templates/confirm.html');
  }
}
