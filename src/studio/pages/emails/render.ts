/**
 * The draft as the server renders it, a moment after the last key.
 */
import { useRef } from 'react';
import { useAnswer } from '../../shared/requests.ts';
import { askProject } from '../../shared/session.ts';
import type { EmailTexts } from './emails-state.ts';

/** What is said of a text, and the place it is about. */
interface Finding {
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly length: number | null;
}

/** What came of a text. */
export interface RenderedText {
  readonly output: string | null;
  readonly fault: Finding | null;
  /** Those that are refused are stored only where somebody insists. */
  readonly warnings: readonly (Finding & { readonly refused: boolean })[];
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

/** @param data Values of variables in place of the sample's; null: the sample. */
export function usePreview(
  email: string,
  { subject, content }: EmailTexts,
  data: Readonly<Record<string, unknown>> | null,
): Preview {
  const draft = { email, subject, content, ...(data !== null && { data }) };
  const last = useRef<Pick<Preview, 'html' | 'text'>>({ html: null, text: null });
  const { value: rendered, problem } = useAnswer(JSON.stringify(draft), async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    signal.throwIfAborted();
    const request = { method: 'POST', body: draft, signal } as const;
    const { body } = await askProject<Rendered>('config/auth/emails/render', request);
    last.current = { html: body.content.output ?? last.current.html, text: body.text ?? last.current.text };
    return body;
  });
  // The frame says when the server is away.
  return { rendered, ...last.current, problem: problem === null || problem.status === 0 ? null : problem.message };
}
