/** The page at `/graphql/v1`: GraphiQL below fields for key and token, which stay in the browser's tab. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { ApiError, bearer } from '../../shared/api.ts';
import { onSubmit } from '../../shared/requests.ts';
import { type Result, sendOperation, subscribe } from '../../shared/send-operation.ts';
import { GraphiqlEditor } from './graphiql-editor.tsx';
import {
  asResult,
  type Fetcher,
  introspectionRefusal,
  isIntrospection,
  isSubscription,
  type Params,
} from './graphiql-operation.ts';
import './graphiql-page.css';

/** The gateway's settings in the page. */
export interface GraphiqlSettings {
  /** Prefills the field for the key; null leaves it empty. */
  readonly apiKey: string | null;
  /** Requests without a key are refused. */
  readonly needsKey: boolean;
  readonly examples: readonly string[];
}

interface Keys {
  readonly key: string;
  readonly token: string;
}

const storageName = (field: keyof Keys) => `pgreflect:${field}`;

const missingKey = 'Type the API key of the project and press Use.';

/** The page. */
export function GraphiqlPage({ settings }: { readonly settings: GraphiqlSettings }) {
  const [keys, setKeys] = useState<Keys>(() => ({
    key: sessionStorage.getItem(storageName('key')) ?? settings.apiKey ?? '',
    token: sessionStorage.getItem(storageName('token')) ?? '',
  }));
  // Operations use the current content of the fields; the schema is read again after they are applied.
  const typed = useRef(keys);
  const [note, setNote] = useState<string | null>(null);
  const lacksKey = (headers: Readonly<Record<string, string>> = {}) =>
    settings.needsKey && typed.current.key === '' && !Object.keys(headers).some((name) => /^apikey$/i.test(name));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the schema is read again for other keys
  const fetcher = useMemo(
    () =>
      (async (params: Params, options?: { readonly headers?: Readonly<Record<string, string>> }) => {
        if (lacksKey(options?.headers)) {
          setNote(missingKey);
          // GraphiQL would show the answer until the next operation. With a key it asks again.
          return isIntrospection(params) ? new Promise<Result>(() => {}) : asResult(missingKey);
        }
        try {
          const headers = { ...headersOf(typed.current), ...options?.headers };
          if (isSubscription(params)) return subscribe(params, { headers });
          const { result } = await sendOperation(params, headers);
          setNote((before) => noteFor(result, typed.current) ?? (result.data ? null : before));
          return result;
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          setNote(error.message);
          return asResult(error.message);
        }
      }) as Fetcher,
    [keys],
  );
  const form = useRef<HTMLFormElement>(null);
  // Without a key or token, focus the first empty field.
  useEffect(() => form.current?.querySelector<HTMLInputElement>('input:placeholder-shown')?.focus(), []);
  const submit = onSubmit(({ key = '', token = '' }) => {
    sessionStorage.setItem(storageName('key'), key);
    sessionStorage.setItem(storageName('token'), token);
    typed.current = { key, token };
    setKeys(typed.current);
  });
  const field = (name: keyof Keys, title: string, placeholder: string) => (
    <label>
      {title}
      <input
        name={name}
        defaultValue={keys[name]}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          typed.current = { ...typed.current, [name]: target.value.trim() };
        }}
      />
    </label>
  );
  return (
    <main className="graphiql-page">
      <h1 className="visually-hidden">GraphiQL</h1>
      <form ref={form} aria-label="Credentials" onSubmit={submit}>
        {field('key', 'API key', 'apikey header')}
        {field('token', 'Token', "optional: a user's access token")}
        <button type="submit" className="primary">
          Use
        </button>
      </form>
      <div role="status">{note !== null && <p className="notice warning">{note}</p>}</div>
      <GraphiqlEditor fetcher={fetcher} examples={settings.examples} hasHeaders />
    </main>
  );
}

function headersOf({ key, token }: Keys): Readonly<Record<string, string>> {
  return { ...(key && { apikey: key }), ...(token && bearer(token)) };
}

/** The fix if the API refuses introspection; null for none. */
function noteFor(result: Result, { key }: Keys): string | null {
  const [first] = result.errors ?? [];
  if (first?.extensions?.code === 'UNAUTHENTICATED') {
    return key === '' ? missingKey : `${first.message}.`;
  }
  return introspectionRefusal(result);
}
