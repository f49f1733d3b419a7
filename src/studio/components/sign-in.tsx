/**
 * Where an operator gives the access token: as a page of its own, and over a page whose token has ended.
 */
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { ApiError } from '../shared/api.ts';
import { session, signIn, signOut } from '../shared/session.ts';

/** The whole page. @param props.refusal Why the one-time token did not work. */
export function SignIn({ refusal }: { readonly refusal: string | null }) {
  return (
    <main className="sign-in">
      <SignInCard refusal={refusal} />
    </main>
  );
}

/** In a page of its own, or in place of what needs a token. */
export function SignInCard({ refusal }: { readonly refusal: string | null }) {
  return (
    <div className="card">
      <img src={new URL('../icon.svg', import.meta.url).href} alt="" width="40" height="40" />
      <h1>Sign in to the studio</h1>
      <p>
        Use an access token of this project. <code>pgreflect start</code> prints one;{' '}
        <code>pgreflect tokens create</code> creates one.
      </p>
      <TokenForm firstProblem={refusal} />
    </div>
  );
}

/** What is behind stays as it is. */
export function SignInAgain() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="card" aria-labelledby="again" onCancel={(event) => event.preventDefault()}>
      <h1 id="again">Your access token is no longer valid</h1>
      <p>It expired or was revoked. Enter another one to continue. What you typed is kept.</p>
      <TokenForm firstProblem={null} />
      <button type="button" className="quiet" onClick={signOut}>
        Sign out
      </button>
    </dialog>
  );
}

function TokenForm({ firstProblem }: { readonly firstProblem: string | null }) {
  const [problem, setProblem] = useState(firstProblem);
  const [isBusy, setBusy] = useState(false);
  const id = useId();

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token')).trim();
    setBusy(true);
    try {
      const before = session.get();
      await signIn(token);
      if (before.kind !== 'none') setProblem(null);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.status === 401 ? 'This is not an access token of this project.' : error.message);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className="stack" onSubmit={submit}>
      <label htmlFor={id}>Access token</label>
      <input
        id={id}
        name="token"
        type="password"
        autoComplete="off"
        placeholder="sbp_…"
        required
        aria-describedby={problem === null ? undefined : `${id}-problem`}
      />
      <p id={`${id}-problem`} className="fault" role="alert">
        {problem}
      </p>
      <button type="submit" className="primary" disabled={isBusy}>
        Sign in
      </button>
    </form>
  );
}
