/** The draft as the server renders it, a moment after the last key press. */
import { useRef } from 'react';
import type { RenderedDraft } from '../../../../management/templates/draft-schemas.ts';
import { useAnswer } from '../../shared/requests.ts';
import { useRested } from '../../shared/rested.ts';
import { askProject } from '../../shared/session.ts';
import { type AuthConfig, type DescribedEmail, type EmailTexts, partialsIn } from './described.ts';

/** The state of the preview. */
export interface Preview {
  /** For the current texts; null before the first answer. */
  readonly rendered: RenderedDraft | null;
  /** The last valid body. */
  readonly html: string | null;
  readonly text: string | null;
  /** Why rendering failed. */
  readonly problem: string | null;
}

/** What a draft is seen with. */
interface Setting {
  readonly config: AuthConfig;
  /** Values of variables instead of the sample's; null: the sample. */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** Of a layout: the built-in email inside. Of a partial: the email that uses it; empty: it alone. Of a page: the kind of link. */
  readonly around: string;
}

/** The members of a request to render or send texts. */
export function draftOf(
  { email, locale, group, partial }: DescribedEmail,
  { subject, content, text }: EmailTexts,
  { config, data, around }: Setting,
): Readonly<Record<string, unknown>> {
  const given = data === null ? {} : { data };
  if (group !== 'shared') return { email, locale, subject, content, text, ...given };
  if (email === 'link_page') return { email, locale, content, data: { Action: around } };
  if (partial === undefined) return { email: around, subject: '', content: '', text: '', layout: content };
  const partials = { ...partialsIn(config), [partial]: content };
  if (around !== '') return { email: around, partials };
  return { email: 'recovery', content: `{{ template "${partial}" . }}`, text: '', partials };
}

/** Renders a draft, and again when it or what is stored changes. @param draft As `draftOf` makes it. */
export function usePreview(
  draft: Readonly<Record<string, unknown>>,
  { version }: { readonly version: string },
): Preview {
  const last = useRef<Pick<Preview, 'html' | 'text'>>({ html: null, text: null });
  const rested = useRested(JSON.stringify(draft));
  const { value: rendered, problem } = useAnswer(`${version} ${rested}`, async (signal) => {
    const request = { method: 'POST', body: draft, signal } as const;
    const { body } = await askProject<RenderedDraft>('config/auth/emails/render', request);
    last.current = { html: body.content.output ?? last.current.html, text: body.text ?? last.current.text };
    return body;
  });
  // The frame reports an unreachable server.
  return { rendered, ...last.current, problem: problem === null || problem.status === 0 ? null : problem.message };
}
