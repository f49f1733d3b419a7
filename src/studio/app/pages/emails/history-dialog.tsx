/** Earlier versions of an email: author, time, differences, and restoring into the editor. */
import { useState } from 'react';
import type { ConfigVersion, VersionValues } from '../../../../management/version-history.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { Versions } from '../../components/versions.tsx';
import { useAnswer, useTask } from '../../shared/requests.ts';
import { askProject } from '../../shared/session.ts';
import { TextDifferences } from './compare-dialog.tsx';
import { type DescribedEmail, type EmailTexts, fieldsOf, textsIn } from './described.ts';
import { draftName } from './emails-state.ts';

interface HistoryDialogProps {
  readonly email: DescribedEmail;
  readonly texts: EmailTexts;
  readonly onRestore: (version: number, texts: EmailTexts) => void;
  readonly onClose: () => void;
}

/** The dialog. */
export function HistoryDialog({ email, texts, onRestore, onClose }: HistoryDialogProps) {
  const fields = fieldsOf(email);
  const { value: versions, problem } = useAnswer(draftName(email), async () => {
    const { body } = await askProject<readonly ConfigVersion[]>('config/auth/versions');
    return body.filter(({ changed }) => changed.some((name) => fields.includes(name)));
  });
  const [chosen, setChosen] = useState<VersionValues | null>(null);
  const reading = useTask();
  const read = (version: number): void => {
    void reading.run(async () => {
      setChosen((await askProject<VersionValues>(`config/auth/versions/${version}`)).body);
    });
  };
  const restored = chosen === null ? null : textsIn(chosen.values, email);
  if (versions === null && problem === null) return null;
  return (
    <Dialog title="Saved versions" isWide={(versions?.length ?? 0) > 0} onClose={onClose}>
      <Fault>{(reading.problem ?? problem)?.message}</Fault>
      {versions?.length === 0 && (
        <p className="soft">No saved versions. {email.partial === undefined && 'The default applies.'}</p>
      )}
      <Versions versions={versions ?? []} chosen={chosen?.version ?? null} onChoose={read}>
        {chosen === null && versions !== null && versions.length > 0 && (
          <p className="soft">Choose a version to see how it differs from the text in the editor.</p>
        )}
        {chosen !== null && restored !== null && (
          <div className="stack">
            <p className="soft">Changes from the editor to version {chosen.version}:</p>
            <TextDifferences before={texts} after={restored} />
            <div className="row end">
              <button
                type="button"
                className="primary"
                onClick={() => {
                  onRestore(chosen.version, restored);
                  onClose();
                }}
              >
                Restore version {chosen.version}
              </button>
            </div>
          </div>
        )}
      </Versions>
    </Dialog>
  );
}
