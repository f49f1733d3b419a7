/** The subject, the body and the text part of an email, with their faults and the variables to insert. */
import { useMemo, useRef, useState } from 'react';
import type { RenderedDraft, RenderedText } from '../../../../management/templates/draft-schemas.ts';
import { CodeEditor, type EditorFault, type EditorHandle } from '../../components/code-editor.tsx';
import type { DescribedEmail, EmailTexts } from './described.ts';
import { variableMeanings } from './email-names.ts';
import { foldsOf } from './folds.ts';
import { completeAction, goHtml, goText } from './go-template.ts';

interface TextFieldsProps {
  readonly email: DescribedEmail;
  readonly texts: EmailTexts;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly rendered: RenderedDraft | null;
  readonly onChange: (part: Partial<EmailTexts>) => void;
}

/** The editors of the texts. */
export function TextFields({ email, texts, data, rendered, onChange }: TextFieldsProps) {
  const isEmail = email.group !== 'shared';
  const [isFolded, setFolded] = useState(isEmail || email.email === 'link_page');
  const body = useRef<EditorHandle>(null);
  const [hadText] = useState(texts.text !== '');
  const hasFolds = useMemo(() => foldsOf(texts.content).length > 0, [texts.content]);
  const complete = useMemo(() => completeAction(email.variables, data ?? email.sample), [email, data]);
  const subjectFaults = useMemo(() => faultsOf(rendered?.subject), [rendered]);
  const bodyFaults = useMemo(() => bodyFaultsOf(email, rendered?.content), [rendered, email]);
  const textFaults = useMemo(() => faultsOf(rendered?.textPart ?? undefined), [rendered]);
  return (
    <section className="email-texts" aria-label="Texts">
      {isEmail && (
        <div className="stack">
          <label id="subject-label" htmlFor="subject">
            Subject
          </label>
          <CodeEditor
            labelledBy="subject-label"
            isSingleLine
            value={texts.subject}
            onChange={(subject) => onChange({ subject })}
            faults={subjectFaults}
            language={goText}
            complete={complete}
          />
          <Faults faults={subjectFaults} />
        </div>
      )}
      <div className="stack grow">
        <div className="spread">
          <span id="body-label" className="label">
            {isEmail ? 'Body' : 'Text'}
          </span>
          {hasFolds && (
            <button type="button" className="quiet" onClick={() => setFolded(!isFolded)}>
              {isFolded ? 'Show all code' : 'Fold code'}
            </button>
          )}
        </div>
        <CodeEditor
          ref={body}
          labelledBy="body-label"
          value={texts.content}
          onChange={(content) => onChange({ content })}
          faults={bodyFaults}
          language={goHtml}
          complete={complete}
          foldsOf={isFolded ? foldsOf : undefined}
        />
        <Faults faults={bodyFaults} />
      </div>
      {isEmail && (
        <details className="text-part" open={hadText}>
          <summary id="text-label">Text part</summary>
          <div className="stack">
            <p className="soft small">
              For mail programs that show no HTML. Left empty, it is{' '}
              {email.locale === undefined ? 'made from the body.' : 'that of the main text, or made from the body.'}
            </p>
            <CodeEditor
              labelledBy="text-label"
              value={texts.text}
              onChange={(text) => onChange({ text })}
              faults={textFaults}
              language={goText}
              complete={complete}
            />
            <Faults faults={textFaults} />
          </div>
        </details>
      )}
      <details className="variables">
        <summary>Variables</summary>
        <ul>
          {email.variables.map((name) => (
            <li key={name}>
              <button
                type="button"
                onClick={() => body.current?.insert(`{{ .${name}${name === 'Brand' ? '.Name' : ''} }}`)}
              >
                <code>{`{{ .${name} }}`}</code>
              </button>
              <span className="soft small">{variableMeanings[name]}</span>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function Faults({ faults }: { readonly faults: readonly EditorFault[] }) {
  return (
    <ul className="faults small" aria-live="polite">
      {faults.map(({ message, line, severity }) => (
        <li key={`${line} ${message}`} className={severity === 'error' ? 'fault' : 'warn'}>
          {line === null ? message : `Line ${line}: ${message}`}
        </li>
      ))}
    </ul>
  );
}

/** The faults of a body. Those of the email around a shared template have no place: it is in another text. */
function bodyFaultsOf(
  { group, email, partial }: DescribedEmail,
  rendered: RenderedText | undefined,
): readonly EditorFault[] {
  if (group !== 'shared' || email === 'link_page') return faultsOf(rendered);
  const fault = rendered?.fault ?? null;
  if (fault === null) return [];
  const { message, line, piece } = fault;
  if (piece?.title === (partial === undefined ? 'the layout' : `the partial "${partial}"`))
    return [{ ...piece, severity: 'error' }];
  const place = line === null ? '' : `In the email, line ${line}: `;
  return [{ message: `${place}${message}`, line: null, column: null, length: null, severity: 'error' }];
}

function faultsOf(rendered: RenderedText | undefined): readonly EditorFault[] {
  if (rendered === undefined) return [];
  const faults: EditorFault[] = rendered.fault === null ? [] : [{ ...rendered.fault, severity: 'error' }];
  const warnings = rendered.warnings.map(
    (warning): EditorFault => ({
      ...warning,
      message: warning.name === null ? warning.message : `${warning.message} [${warning.name}]`,
      severity: warning.refused ? 'error' : 'warning',
    }),
  );
  return [...faults, ...warnings.sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity))];
}
