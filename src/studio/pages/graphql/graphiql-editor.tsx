/**
 * GraphiQL with our requests: every operation is sent as the chosen caller, and the documentation is read again for another one.
 */
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { useGraphiQLActions } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect, useMemo, useRef, useState } from 'react';
import 'graphiql/setup-workers/vite';
// Without its fonts, which are written into `graphiql/style.css` and larger than everything else of it.
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import 'graphiql/graphiql.css';
import '@graphiql/plugin-explorer/style.css';
import { ApiError, isServerThere, noteAbsence } from '../../shared/api.ts';
import { useStore } from '../../shared/store.ts';
import { theme } from '../../shared/theme.ts';
import { type Caller, credentialsOf } from './caller.ts';
import { examplesPlugin, examplesTitle, hasOperation, toTab } from './examples-panel.tsx';
import type { Operation } from './plan-panel.tsx';

interface GraphiqlEditorProps {
  readonly caller: Caller;
  /** Texts of the examples of the project; the first one is in the editor of a browser that has not been here. */
  readonly examples: readonly string[];
  readonly onOperation: (operation: Operation) => void;
  /** Whether the role may read its schema. */
  /** @param closed Why there is none, as the server says; empty where it does not say, null where there is. */
  readonly onIntrospection: (closed: string | null) => void;
  /** Why nothing could be sent, or that the key was refused; null where all is well. */
  readonly onProblem: (problem: ApiError | null) => void;
}

interface Params {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly hint?: string };
  }[];
}

/** The editor. */
export function GraphiqlEditor(props: GraphiqlEditorProps) {
  const latest = useRef(props);
  latest.current = props;
  const fetcher = useMemo(() => (params: Params) => send(latest.current, params), []);
  const tabs = useMemo(() => props.examples.slice(0, 1).map(toTab), [props.examples]);
  const plugins = useMemo(
    () => [examplesPlugin(props.examples), explorerPlugin({ showAttribution: false }), HISTORY_PLUGIN],
    [props.examples],
  );
  // Whoever has not chosen a panel begins with the examples, where there is room for them beside the editor.
  const [isNew] = useState(() => localStorage.getItem('graphiql:visiblePlugin') === null && innerWidth >= 1150);
  const chosen = useStore(theme);
  return (
    <div className="graphiql-place">
      <GraphiQL
        // biome-ignore lint/suspicious/noExplicitAny: its type also has subscriptions, which we do not have
        fetcher={fetcher as any}
        forcedTheme={chosen}
        isHeadersEditorEnabled={false}
        showPersistHeadersSettings={false}
        plugins={plugins}
        defaultQuery={emptyText}
        {...(isNew && { visiblePlugin: examplesTitle })}
        {...(tabs.length > 0 && { defaultTabs: tabs })}
      >
        <GraphiQL.Logo> </GraphiQL.Logo>
        <GraphiQL.Footer>
          <ReadSchemaAgain caller={props.caller} />
        </GraphiQL.Footer>
      </GraphiQL>
    </div>
  );
}

/** Draws nothing; it lives inside, where GraphiQL can be told. */
function ReadSchemaAgain({ caller }: { readonly caller: Caller }) {
  const { introspect } = useGraphiQLActions();
  const isThere = useStore(isServerThere);
  const read = useRef<Caller>(caller);
  useEffect(() => {
    const isNew = read.current !== caller;
    read.current = caller;
    if (isThere && isNew && !(caller.kind === 'user' && caller.userId === null)) void introspect();
  }, [caller, isThere, introspect]);
  return null;
}

/** In an editor that has nothing else. */
const emptyText = '# Write an operation here, or choose one from Examples.\n';

async function send(
  { caller, onOperation, onIntrospection, onProblem }: GraphiqlEditorProps,
  params: Params,
): Promise<unknown> {
  const isIntrospection = params.operationName === 'IntrospectionQuery';
  if (!hasOperation(params.query)) {
    return { errors: [{ message: 'Nothing to run yet. Write an operation, or choose one from Examples.' }] };
  }
  try {
    const { headers, role, claims } = await credentialsOf(caller);
    const { query, operationName = null, variables = null } = params;
    const response = await fetch('/graphql/v1', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, operationName, variables }),
    });
    const result = (await response.json()) as Result;
    const [first] = result.errors ?? [];
    onProblem(response.status === 401 ? new ApiError(401, 'unauthorized', first?.message ?? '') : null);
    if (isIntrospection) onIntrospection(isRefused(result) ? (first?.extensions?.hint ?? '') : null);
    else onOperation({ query, operationName, variables, role, claims, doneAt: Date.now() });
    return result;
  } catch (error) {
    if (!(error instanceof ApiError)) noteAbsence();
    const problem = error instanceof ApiError ? error : new ApiError(0, 'unreachable', 'The server is not responding.');
    onProblem(problem);
    return { errors: [{ message: problem.message }] };
  }
}

function isRefused({ errors }: Result): boolean {
  const [first] = errors ?? [];
  return first?.extensions?.code === 'INTROSPECTION_DISABLED' || /^Unknown field "__schema"/.test(first?.message ?? '');
}
