/** The parse options of email texts under a configuration, shared by sending and validation. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { ParseOptions } from './template-cache.ts';

/** A text of an email: `content` is its HTML body, `text` its text part. */
export type TemplatePart = 'subject' | 'content' | 'text';

/** Configuration fields that affect parsing. */
export type TemplateSwitches = Pick<
  AuthConfig,
  | 'mailer_extra_url_schemes'
  | 'mailer_keep_conditional_comments'
  | 'mailer_subject_html_escape'
  | 'mailer_layout_content'
  | 'mailer_partials'
>;

/** The parse options of a text. */
export function parseOptions(part: TemplatePart, switches: TemplateSwitches): ParseOptions {
  return {
    kind: part === 'content' || (part === 'subject' && switches.mailer_subject_html_escape) ? 'html' : 'text',
    extraUrlSchemes: splitSchemes(switches.mailer_extra_url_schemes),
    keepConditionalComments: switches.mailer_keep_conditional_comments,
    layout: part === 'content' ? switches.mailer_layout_content || null : null,
    partials: switches.mailer_partials ?? {},
  };
}

/** `MyApp://, other:` -> `myapp`, `other`: users copy schemes from links. */
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
