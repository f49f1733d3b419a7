/** Differences: to the stored texts, to the built-in ones, and to texts that another person stored meanwhile. */
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Difference } from '../../components/difference.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import type { DescribedEmail, EmailTexts } from './described.ts';
import { discard, type EmailDraft, rebaseDraft, type StoredEmails, textsOf } from './emails-state.ts';
import { goHtml, goText } from './go-template.ts';

type Against = 'stored' | 'default';

interface CompareDialogProps {
  readonly email: DescribedEmail;
  readonly stored: EmailTexts;
  readonly texts: EmailTexts;
  readonly onClose: () => void;
}

/** The differences between the editor's texts and others. */
export function CompareDialog({ email, stored, texts, onClose }: CompareDialogProps) {
  const [against, setAgainst] = useState<Against>('stored');
  const choices: readonly Tab<Against>[] = [
    { name: 'stored', title: 'With the saved version' },
    ...(email.partial === undefined
      ? [{ name: 'default', title: email.locale === undefined ? 'With the default' : 'With the main text' } as const]
      : []),
  ];
  return (
    <Dialog title="Your changes" isWide onClose={onClose}>
      <Tabs label="Compare" tabs={choices} chosen={against} onChoose={setAgainst}>
        <TextDifferences before={against === 'stored' ? stored : email.defaults} after={texts} />
      </Tabs>
    </Dialog>
  );
}

/** The texts, one above the other. */
export function TextDifferences({ before, after }: { readonly before: EmailTexts; readonly after: EmailTexts }) {
  return (
    <div className="stack">
      {(before.subject !== '' || after.subject !== '') && (
        <>
          <h2>Subject</h2>
          <Difference before={before.subject} after={after.subject} label="Changes to the subject" language={goText} />
        </>
      )}
      <h2>Body</h2>
      <Difference before={before.content} after={after.content} label="Changes to the body" language={goHtml} />
      {(before.text !== '' || after.text !== '') && (
        <>
          <h2>Text part</h2>
          <Difference before={before.text} after={after.text} label="Changes to the text part" language={goText} />
        </>
      )}
    </div>
  );
}

interface OvertakenDialogProps {
  readonly email: DescribedEmail;
  readonly stored: StoredEmails;
  readonly draft: EmailDraft;
  readonly onKeep: () => void;
  readonly onClose: () => void;
}

/** The dialog after another person saved first: their texts against the editor's. */
export function OvertakenDialog({ email, stored, draft, onKeep, onClose }: OvertakenDialogProps) {
  return (
    <Dialog title="Someone else saved this email" isWide onClose={onClose}>
      <p>Red: only in their version. Green: only in yours. Nothing was overwritten.</p>
      <TextDifferences before={textsOf(stored, email)} after={draft} />
      <div className="row end">
        <button
          type="button"
          onClick={() => {
            discard(email);
            onClose();
          }}
        >
          Use their version
        </button>
        <button
          type="button"
          className="primary"
          onClick={() => {
            rebaseDraft(stored, email);
            onKeep();
            onClose();
          }}
        >
          Keep my version
        </button>
      </div>
    </Dialog>
  );
}
