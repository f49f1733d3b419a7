/** The switch that sends a notification: in the list and at the email, where it has words. */
import { useState } from 'react';
import { say } from '../../components/toasts.tsx';
import { ApiError } from '../../shared/api.ts';
import { useMayWrite } from '../../shared/session.ts';
import type { DescribedEmail } from './described.ts';
import { titleOf } from './email-names.ts';
import { isSent, type StoredEmails, storeFields } from './emails-state.ts';

interface SendSwitchProps {
  readonly stored: StoredEmails;
  readonly email: DescribedEmail;
  readonly isInList?: boolean;
}

/** Shows the requested state until the server has answered; nothing for an email that is always sent. */
export function SendSwitch({ stored, email, isInList = false }: SendSwitchProps) {
  const [wished, setWished] = useState<boolean | null>(null);
  const mayWrite = useMayWrite();
  const { enabledField } = email;
  if (enabledField === null) return null;
  const { title } = titleOf(email.email);
  const change = async (isOn: boolean): Promise<void> => {
    setWished(isOn);
    try {
      await storeFields({ [enabledField]: isOn });
      say(isOn ? `“${title}” is sent from now on.` : `“${title}” is no longer sent.`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      say(`Not changed. ${error.message}`);
    }
    setWished(null);
  };
  return (
    <label className="switch">
      <input
        type="checkbox"
        aria-label={isInList ? `Send “${title}”` : undefined}
        disabled={!mayWrite}
        checked={wished ?? isSent(stored, email)}
        onChange={({ target }) => void change(target.checked)}
      />
      {!isInList && 'Send this email'}
    </label>
  );
}
