/** The way to an access token that may apply the changes: only the command gives the scope. */
import { useState } from 'react';
import { ProjectCommand } from '../../components/project-command.tsx';
import { TokenForm } from '../../components/sign-in.tsx';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { sqlTokenCommand } from '../../shared/token-commands.ts';

/** How long the token is valid. */
const hours = 12;

/** The section. */
export function ApplyHere() {
  const now = useStore(session);
  // Who enters the token of the session signs in anew, too.
  const [first] = useState(now);
  const key = now === first || now.kind === 'none' ? 'first' : now.token;
  return (
    <section className="apply-here stack" aria-label="Apply here">
      <h3>Apply here</h3>
      <p>
        Your access token may not run SQL. This command prints one that may, for {hours} hours; without{' '}
        <code>--expires</code> it would never end. It takes the place of yours in this tab: you stay signed in, and the
        changes stay.
      </p>
      <ProjectCommand text={sqlTokenCommand(`${hours}h`)} />
      <TokenForm
        key={key}
        action="Use this token"
        refusal={now === first ? null : 'This access token lacks the scope, too.'}
      />
    </section>
  );
}
