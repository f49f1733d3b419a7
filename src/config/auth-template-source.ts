/**
 * Where the body of an email comes from when a variable names it: inline text, a file, or an address that is fetched later.
 */
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AuthFieldName } from './auth-fields.ts';

/** A body that is fetched over HTTP when a mail needs it. */
export interface RemoteTemplate {
  readonly field: AuthFieldName;
  /** An absolute URL, or a path below the site URL. */
  readonly location: string;
}

/** What a variable turned out to name. */
export type TemplateSource =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'remote'; readonly location: string }
  | { readonly kind: 'unreadable'; readonly warning: string };

/** Tells what a variable names and reads it where it is a file. Never throws. */
export type ReadTemplate = (
  given: { readonly text: string; readonly origin: string },
  workingDirectory: string,
) => TemplateSource;

/** See `ReadTemplate`. Text is inline where it has a line break, `<` or `{{`; a path counts only if the file exists. */
export const readTemplateVariable: ReadTemplate = ({ text, origin }, workingDirectory) => {
  if (/[\n<]|\{\{/.test(text)) return { kind: 'text', text };
  if (/^https?:\/\//i.test(text)) return { kind: 'remote', location: text };
  if (/^file:\/\//i.test(text)) return readFile(() => fileURLToPath(text), origin);
  if (!/^(\.{0,2}\/)/.test(text)) return { kind: 'remote', location: text };
  const path = isAbsolute(text) ? text : join(workingDirectory, text);
  const file = readFile(() => path, origin);
  // The original joins a path to the site URL.
  return file.kind === 'unreadable' && text.startsWith('/') ? { kind: 'remote', location: text } : file;
};

/** Reads the file that `content_path` names. Never throws. */
export function readTemplateFile(path: string, origin: string): TemplateSource {
  return readFile(() => path, origin);
}

function readFile(toPath: () => string, origin: string): TemplateSource {
  try {
    return { kind: 'text', text: readFileSync(toPath(), 'utf8') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return {
      kind: 'unreadable',
      warning: `${origin}: the template cannot be read (${code}); the built-in one is used.`,
    };
  }
}
