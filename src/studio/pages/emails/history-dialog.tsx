/**
 * Earlier versions of an email: who saved what and when, what was different, and back into the editor with it.
 */
import { useCallback, useEffect, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { ApiError } from '../../shared/api.ts';
import { askProject } from '../../shared/session.ts';
import { TextDifferences } from './compare-dialog.tsx';
import type { DescribedEmail, EmailTexts } from './emails-state.ts';

interface Version {
  readonly version: number;
  readonly changed: readonly string[];
  readonly updatedAt: string;
  readonly updatedBy: string;
}

interface VersionTexts extends Version {
  readonly values: Readonly<Record<string, unknown>>;
}

interface HistoryDialogProps {
  readonly email: DescribedEmail;
  readonly texts: EmailTexts;
  readonly onRestore: (texts: EmailTexts) => void;
  readonly onClose: () => void;
}

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The dialog. */
export function HistoryDialog({ email, texts, onRestore, onClose }: HistoryDialogProps) {
  const [versions, setVersions] = useState<readonly Version[] | null>(null);
  const [chosen, setChosen] = useState<VersionTexts | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const fail = useCallback((error: unknown): void => {
    if (!(error instanceof ApiError)) throw error;
    setProblem(error.message);
  }, []);
  const read = (version: number): void => {
    askProject<VersionTexts>(`config/auth/versions/${version}`).then(({ body }) => setChosen(body), fail);
  };
  useEffect(() => {
    const fields = [email.subjectField, email.contentField];
    askProject<readonly Version[]>('config/auth/versions').then(
      ({ body }) => setVersions(body.filter(({ changed }) => changed.some((name) => fields.includes(name)))),
      fail,
    );
  }, [email, fail]);
  const restored = chosen === null ? null : textsOfVersion(chosen, email);
  return (
    <Dialog title="Saved versions" isWide onClose={onClose}>
      <p className="fault" role="alert">
        {problem}
      </p>
      {versions?.length === 0 && <p className="soft">No saved versions. This email uses the default texts.</p>}
      <div className="history">
        <ol aria-label="Versions, newest first">
          {versions?.map(({ version, updatedAt, updatedBy }) => (
            <li key={version}>
              <button type="button" aria-pressed={version === chosen?.version} onClick={() => read(version)}>
                <strong>Version {version}</strong>
                <span className="soft small">
                  {time.format(new Date(updatedAt))}, {updatedBy}
                </span>
              </button>
            </li>
          ))}
        </ol>
        {restored !== null && (
          <div className="stack">
            <p className="soft">Changes from the editor to version {chosen?.version}:</p>
            <TextDifferences before={texts} after={restored} />
            <div className="row end">
              <button
                type="button"
                className="primary"
                onClick={() => {
                  onRestore(restored);
                  onClose();
                }}
              >
                Restore version {chosen?.version}
              </button>
            </div>
          </div>
        )}
      </div>
    </Dialog>
  );
}

function textsOfVersion(
  { values }: VersionTexts,
  { subjectField, contentField, defaults, start }: DescribedEmail,
): EmailTexts {
  const { [subjectField]: subject, [contentField]: content } = values;
  return {
    subject: String(subject ?? start.subject) || defaults.subject,
    content: String(content ?? start.content) || defaults.content,
  };
}
