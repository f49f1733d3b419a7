/** The form for API keys, for projects that do not provide them: all except local ones. */
import { useEffect, useId, useRef } from 'react';
import { apiKeys, keepKeys } from '../shared/keys.ts';
import { onSubmit } from '../shared/requests.ts';
import { useStore } from '../shared/store.ts';

/** @param props.onDone Called after the keys were entered. */
export function KeysForm({ onDone }: { readonly onDone?: () => void }) {
  const keys = useStore(apiKeys);
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current?.value === '') field.current.focus();
  }, []);
  const submit = onSubmit(({ anon = '', service = '' }) => {
    keepKeys({ anon, service });
    onDone?.();
  });
  return (
    <form className="stack" onSubmit={submit}>
      <p className="soft">Keys are kept in this tab and sent only to this server.</p>
      <label htmlFor={`${id}-anon`}>Anon key</label>
      <input ref={field} id={`${id}-anon`} name="anon" defaultValue={keys.anon} autoComplete="off" spellCheck={false} />
      <label htmlFor={`${id}-service`}>Service key</label>
      <input id={`${id}-service`} name="service" type="password" defaultValue={keys.service} autoComplete="off" />
      <div className="row end">
        <button type="submit" className="primary">
          Use these keys
        </button>
      </div>
    </form>
  );
}
