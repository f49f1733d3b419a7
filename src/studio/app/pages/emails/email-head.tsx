/** The head of an email: its title, the switch that sends it, and the actions on its texts. */
import { type ReactNode, useState } from 'react';
import { Link } from '../../components/link.tsx';
import { useMayWrite } from '../../shared/session.ts';
import type { DescribedEmail } from './described.ts';
import { titleOf } from './email-names.ts';
import { isSent, type StoredEmails, switchField } from './emails-state.ts';

/** The result of an action. */
export interface Outcome {
  readonly kind: 'good' | 'warning' | 'fault';
  readonly text: string;
  readonly details?: readonly string[];
  /** A button for the next step. */
  readonly way?: { readonly title: string; readonly go: () => void };
}

interface EmailHeadProps {
  readonly stored: StoredEmails;
  readonly email: DescribedEmail;
  readonly perform: (work: () => Promise<Outcome | null>) => Promise<void>;
  readonly children: ReactNode;
}

/** The head of the email. */
export function EmailHead({ email, stored, perform, children }: EmailHeadProps) {
  const { title, sent } = titleOf(email.email);
  const { enabledField } = email;
  return (
    <header className="page-head">
      <div>
        <Link className="to-list" to="emails">
          All emails
        </Link>
        <h2 id="email-title" className="title">
          {title}
        </h2>
        <p className="soft small">{sent}</p>
      </div>
      <div className="row">
        {(email.variables.includes('ConfirmationURL') || email.variables.includes('Button')) && (
          <Switch
            title="Ask before a link is used"
            hint="For all emails: a link opens a page whose button verifies, so mail scanners cannot use it up."
            isOn={stored.config.mailer_link_confirmation === 'page'}
            onSwitch={(isOn) =>
              perform(async () => {
                await switchField('mailer_link_confirmation', isOn ? 'page' : 'direct');
                const text = isOn ? 'Links open a page that asks first.' : 'Links verify when they are opened.';
                return { kind: 'good', text };
              })
            }
          />
        )}
        {enabledField !== null && (
          <Switch
            title="Send this email"
            isOn={isSent(stored, email)}
            onSwitch={(isOn) =>
              perform(async () => {
                await switchField(enabledField, isOn);
                const text = isOn ? 'Sending is on.' : 'Sending is off.';
                return { kind: 'good', text };
              })
            }
          />
        )}
        {children}
      </div>
    </header>
  );
}

interface SwitchProps {
  readonly title: string;
  readonly hint?: string;
  readonly isOn: boolean;
  readonly onSwitch: (isOn: boolean) => Promise<void>;
}

/** Shows the requested state until the server has answered. */
function Switch({ title, hint, isOn, onSwitch }: SwitchProps) {
  const [wished, setWished] = useState<boolean | null>(null);
  const mayWrite = useMayWrite();
  const change = (wish: boolean): void => {
    setWished(wish);
    void onSwitch(wish).finally(() => setWished(null));
  };
  return (
    <label className="switch" title={hint}>
      <input
        type="checkbox"
        disabled={!mayWrite}
        checked={wished ?? isOn}
        onChange={({ target }) => change(target.checked)}
      />
      {title}
    </label>
  );
}
