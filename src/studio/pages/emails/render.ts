/**
 * The draft as the server renders it, a moment after the last key press.
 */
import { useRef } from 'react';
import { useAnswer } from '../../shared/requests.ts';
import { askProject } from '../../shared/session.ts';
import type { DescribedEmail, EmailTexts } from './emails-state.ts';

/** A finding about a text, and its place. */
interface Finding {
  readonly message: string;
  /** The check; null: a fault. */
  readonly name: string | null;
  readonly line: number | null;
  readonly column: number | null;
  readonly length: number | null;
}

/** The result of one text. */
export interface RenderedText {
  readonly output: string | null;
  readonly fault: Finding | null;
  /** Refused ones are stored only if the user insists. */
  readonly warnings: readonly (Finding & { readonly refused: boolean })[];
}

/** The result of a draft. */
export interface Rendered {
  readonly subject: RenderedText;
  readonly content: RenderedText;
  readonly text: string | null;
  /** Null: the text is made from the body. */
  readonly textPart: RenderedText | null;
}

/** The state of the preview. */
export interface Preview {
  /** For the current texts; null before the first answer. */
  readonly rendered: Rendered | null;
  /** The last valid body. */
  readonly html: string | null;
  readonly text: string | null;
  /** Why rendering failed. */
  readonly problem: string | null;
}

const pauseMs = 200;

/** @param data Values of variables instead of the sample's; null: the sample. */
export function usePreview(
  { email, locale }: Pick<DescribedEmail, 'email' | 'locale'>,
  { subject, content, text }: EmailTexts,
  data: Readonly<Record<string, unknown>> | null,
): Preview {
  const draft = { email, locale, subject, content, text, ...(data !== null && { data }) };
  const last = useRef<Pick<Preview, 'html' | 'text'>>({ html: null, text: null });
  const { value: rendered, problem } = useAnswer(JSON.stringify(draft), async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    signal.throwIfAborted();
    const request = { method: 'POST', body: draft, signal } as const;
    const { body } = await askProject<Rendered>('config/auth/emails/render', request);
    last.current = { html: body.content.output ?? last.current.html, text: body.text ?? last.current.text };
    return body;
  });
  // The frame reports an unreachable server.
  return { rendered, ...last.current, problem: problem === null || problem.status === 0 ? null : problem.message };
}
