/** The form for the access token: as its own page, and over a page whose token has expired. */
import { useEffect, useId, useRef, useState } from 'react';
import { onSubmit, useTask } from '../shared/requests.ts';
import { signIn, signOut } from '../shared/session.ts';
import { useShell } from '../shared/shell.ts';
import { tokenCommand } from '../shared/token-commands.ts';
import { Dialog } from './dialog.tsx';
import { Fault } from './problem.tsx';
import { ProjectCommand } from './project-command.tsx';

/** The whole page. @param props.refusal Why the one-time token was refused. */
export function SignIn({ refusal }: { readonly refusal: string | null }) {
  return (
    <main className="sign-in">
      <SignInCard refusal={refusal} />
    </main>
  );
}

/** The form as a card, on its own page or instead of content that needs a token. */
export function SignInCard({ refusal }: { readonly refusal: string | null }) {
  // The card is not moved by what it learns.
  if (useShell() === null) return null;
  return (
    <div className="card">
      <img src={new URL('../icon.svg', import.meta.url).href} alt="" width="40" height="40" />
      <h1>Sign in to the studio</h1>
      <p>
        Use an access token of this project. <code>pgreflect start</code> prints one; this command creates one for 12
        hours:
      </p>
      <ProjectCommand text={tokenCommand} />
      <TokenForm refusal={refusal} />
    </div>
  );
}

/** The form over a page, which stays unchanged. */
export function SignInAgain() {
  return (
    <Dialog title="Your access token is no longer valid" onClose={null}>
      <p>It expired or was revoked. Enter another one to continue. What you typed is kept.</p>
      <TokenForm refusal={null} />
      <button type="button" className="quiet" onClick={signOut}>
        Sign out
      </button>
    </Dialog>
  );
}

interface TokenFormProps {
  readonly refusal: string | null;
  readonly action?: string;
}

/** The field and its button alone. Who is signed in goes on with the new token. */
export function TokenForm({ refusal, action = 'Sign in' }: TokenFormProps) {
  const { problem, isBusy, run } = useTask();
  const [wasTried, setTried] = useState(false);
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  // The only field of the dialog.
  useEffect(() => field.current?.focus(), []);
  const refused = problem?.status === 401 ? 'This is not an access token of this project.' : problem?.message;
  const shown = wasTried ? refused : refusal;
  const submit = onSubmit(({ token = '' }) => {
    setTried(true);
    void run(() => signIn(token));
  });
  return (
    <form className="stack" onSubmit={submit}>
      <label htmlFor={id}>Access token</label>
      <input
        ref={field}
        id={id}
        name="token"
        type="password"
        autoComplete="off"
        placeholder="sbp_…"
        required
        aria-describedby={shown ? `${id}-problem` : undefined}
      />
      <Fault id={`${id}-problem`}>{shown}</Fault>
      <button type="submit" className="primary" disabled={isBusy}>
        {action}
      </button>
    </form>
  );
}
