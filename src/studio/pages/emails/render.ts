/**
 * The draft as the server renders it, a moment after the last key.
 */
import { useEffect, useState } from 'react';
import { ApiError, isServerThere } from '../../shared/api.ts';
import { askProject, session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import type { EmailTexts } from './emails-state.ts';

/** What came of a text. */
export interface RenderedText {
  readonly output: string | null;
  readonly fault: { readonly message: string; readonly line: number | null; readonly column: number | null } | null;
  readonly warnings: readonly string[];
}

/** What came of a draft. */
export interface Rendered {
  readonly subject: RenderedText;
  readonly content: RenderedText;
  readonly text: string | null;
}

/** The state of the preview. */
export interface Preview {
  /** Of the texts as they are; null while the first is on its way. */
  readonly rendered: Rendered | null;
  /** The last body that had no fault. */
  readonly html: string | null;
  readonly text: string | null;
  /** Why nothing could be rendered. */
  readonly problem: string | null;
}

const pauseMs = 200;
const nothing: Preview = { rendered: null, html: null, text: null, problem: null };

/** @param data Values of variables in place of the sample's; null: the sample. */
export function usePreview(
  email: string,
  { subject, content }: EmailTexts,
  data: Readonly<Record<string, unknown>> | null,
): Preview {
  const [preview, setPreview] = useState<Preview>(nothing);
  const isThere = useStore(isServerThere);
  const { kind } = useStore(session);
  useEffect(() => {
    if (!isThere || kind !== 'open') return;
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { body } = await askProject<Rendered>('config/auth/emails/render', {
          method: 'POST',
          body: { email, subject, content, ...(data !== null && { data }) },
          signal: leaving.signal,
        });
        setPreview((before) => ({
          rendered: body,
          html: body.content.output ?? before.html,
          text: body.text ?? before.text,
          problem: null,
        }));
      } catch (error) {
        if (leaving.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        const { message } = error;
        setPreview((before) => ({ ...before, problem: message }));
      }
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [email, subject, content, data, isThere, kind]);
  return preview;
}
