/** GraphiQL with our look, our examples and clickable fields. The page provides the fetcher with the caller. */
import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { type GraphiQLPlugin, PluginContextProvider, useEditorContext } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import type { GraphQLSchema } from 'graphql';
import { useEffect, useMemo, useState } from 'react';
import 'graphiql/style.css';
import '@graphiql/plugin-explorer/style.css';
import { exampleOperations, exampleTables } from '../../shared/example-operations.ts';
import { useStore } from '../../shared/store.ts';
import { theme } from '../../shared/theme.ts';
import { examplesPlugin, examplesTitle, type Text, toTab } from './examples-panel.tsx';
import type { Fetcher } from './graphiql-operation.ts';
import './graphiql.css';

interface GraphiqlEditorProps {
  /** Without a given schema, GraphiQL asks it for the introspection, again if this changes. */
  readonly fetcher: Fetcher;
  /** Null: not known now. */
  readonly schema?: GraphQLSchema | null;
  /** Whether there will be a schema, or none: the editor begins with an operation made of it. */
  readonly isRead?: boolean;
  /** The project's examples; the first one is shown to a new browser. */
  readonly examples: readonly string[];
  readonly hasHeaders: boolean;
}

/** The editor. */
export function GraphiqlEditor({ isRead = true, ...props }: GraphiqlEditorProps) {
  const [wasRead, setWasRead] = useState(isRead);
  if (isRead && !wasRead) setWasRead(true);
  return wasRead ? <ReadEditor {...props} /> : <p className="loading">Loading the schema …</p>;
}

function ReadEditor({ fetcher, schema, examples, hasHeaders }: Omit<GraphiqlEditorProps, 'isRead'>) {
  const plugins = useMemo(() => [examplesPlugin(examples), explorerPlugin({ showAttribution: false })], [examples]);
  const all = useMemo(() => [DOC_EXPLORER_PLUGIN, HISTORY_PLUGIN, ...plugins], [plugins]);
  const [panel] = useState(chosenPanel);
  const [first] = useState(() => activeTab() ?? toTab(examples[0] ?? firstOperation(schema) ?? emptyText));
  // GraphiQL reserves no space for a panel added later.
  const [isPanelKnown, setPanelKnown] = useState(false);
  useEffect(() => setPanelKnown(true), []);
  const chosen = useStore(theme);
  return (
    <PluginContextProvider plugins={all} visiblePlugin={panel} onTogglePluginVisibility={rememberPanel}>
      <div className="graphiql-place">
        {isPanelKnown && (
          <GraphiQL
            fetcher={fetcher}
            {...(schema !== undefined && { schema })}
            dangerouslyAssumeSchemaIsValid
            forcedTheme={chosen}
            isHeadersEditorEnabled={hasHeaders}
            showPersistHeadersSettings={false}
            plugins={plugins}
            visiblePlugin={panel}
            onTogglePluginVisibility={rememberPanel}
            query={first.query}
            variables={first.variables}
            defaultQuery={emptyText}
            defaultTabs={[first]}
          >
            <GraphiQL.Logo> </GraphiQL.Logo>
            <GraphiQL.Footer>
              <EditorNames />
            </GraphiQL.Footer>
          </GraphiQL>
        )}
      </div>
    </PluginContextProvider>
  );
}

/** Renders nothing; names the editors for screen readers. */
function EditorNames() {
  const { queryEditor, variableEditor, headerEditor, responseEditor } = useEditorContext({ nonNull: true });
  useEffect(() => {
    queryEditor?.setOption('screenReaderLabel', 'Operation');
    variableEditor?.setOption('screenReaderLabel', 'Variables');
    headerEditor?.setOption('screenReaderLabel', 'Headers');
    responseEditor?.setOption('screenReaderLabel', 'Response');
  }, [queryEditor, variableEditor, headerEditor, responseEditor]);
  return null;
}

/** The rows of the first table. */
function firstOperation(schema: GraphQLSchema | null | undefined): string | null {
  const [table] = schema ? exampleTables(schema) : [];
  const [first] = table === undefined ? [] : exampleOperations(schema!, table);
  return first?.query ?? null;
}

/** The text of an empty editor. */
const emptyText = '# Write an operation here,\n# or choose one from Examples.\n';

const panelName = 'pgreflect:graphiql-panel';

/** Without a chosen panel, the examples are open if there is room beside the editor. */
function chosenPanel(): string {
  return localStorage.getItem(panelName) ?? (innerWidth >= 1400 ? examplesTitle : '');
}

function rememberPanel(panel: GraphiQLPlugin | null): void {
  localStorage.setItem(panelName, panel?.title ?? '');
}

/** The last open tab. GraphiQL stores its tabs, and identifies the one to open only by its text. */
function activeTab(): Text | null {
  try {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '');
    const { query, variables } = tabs[activeTabIndex];
    return { query: query ?? '', variables: variables ?? '' };
  } catch {
    return null;
  }
}
