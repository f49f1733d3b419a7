/**
 * How the texts of emails are parsed under a configuration: the one reading of its switches, for sending and for checking.
 */
import type { AuthConfig } from '../config/auth/auth-config.ts';
import type { ParseOptions } from './template-cache.ts';

/** A text of an email. */
export type TemplatePart = 'subject' | 'content';

/** Switches of the configuration that change what a template means. */
export type TemplateSwitches = Pick<
  AuthConfig,
  'mailer_extra_url_schemes' | 'mailer_keep_conditional_comments' | 'mailer_subject_html_escape'
>;

/** What a subject or body is parsed with. */
export function parseOptions(part: TemplatePart, switches: TemplateSwitches): ParseOptions {
  return {
    kind: part === 'content' || switches.mailer_subject_html_escape ? 'html' : 'text',
    extraUrlSchemes: splitSchemes(switches.mailer_extra_url_schemes),
    keepConditionalComments: switches.mailer_keep_conditional_comments,
  };
}

/** `MyApp://, other:` -> `myapp`, `other`: people write what they see in links. */
function splitSchemes(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) =>
      item
        .trim()
        .toLowerCase()
        .replace(/:(\/\/)?$/, ''),
    )
    .filter((scheme) => scheme !== '');
}
