/** A panel of GraphiQL with operations to start from: the project's own, and some for each table. */
import { type GraphiQLPlugin, useEditorContext, useSchemaStore } from '@graphiql/react';
import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import { useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { ExamplesIcon } from '../../components/icons.tsx';
import { type ExampleOperation, exampleOperations, exampleTables } from '../../shared/example-operations.ts';
import { hasOperation } from './graphiql-operation.ts';

/** Title of the panel. */
export const examplesTitle = 'Examples';

/** @param own The project's own operations. */
export function examplesPlugin(own: readonly string[]): GraphiQLPlugin {
  const known = own.map((query) => ({ title: titleOf(query), query }));
  return { title: examplesTitle, icon: ExamplesIcon, content: () => <Examples own={known} /> };
}

/** The comment above it: `# The first query: three products`. */
function titleOf(query: string): string {
  return /^# *(.+)/.exec(query)?.[1] ?? query.split('\n')[0] ?? '';
}

function Examples({ own }: { readonly own: readonly ExampleOperation[] }) {
  const schema = useSchemaStore(({ schema: read }) => read) ?? null;
  const tables = useMemo(() => (schema === null ? [] : exampleTables(schema)), [schema]);
  const [chosen, setChosen] = useState<string | null>(null);
  const table = tables.find((name) => name === chosen) ?? tables[0] ?? null;
  const operations = useMemo(
    () => (schema === null || table === null ? [] : exampleOperations(schema, table)),
    [schema, table],
  );
  return (
    <section className="examples stack" aria-labelledby="examples-title">
      <h2 id="examples-title">Examples</h2>
      {table === null ? (
        <p className="soft">
          {schema === null
            ? 'They are made of the tables that the caller sees. The schema cannot be read now.'
            : 'They are made of the tables that the caller sees. This one sees none.'}
        </p>
      ) : (
        <>
          <label className="stack">
            Table
            <select value={table} onChange={({ target }) => setChosen(target.value)}>
              {tables.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <Operations operations={operations} />
        </>
      )}
      {own.length > 0 && (
        <>
          <h3>Of this project</h3>
          <Operations operations={own} />
        </>
      )}
    </section>
  );
}

/** A line `# variables: {...}` in an example fills the editor for variables. */
const variablesLine = /^# *variables: *(\{.*\}) *$/m;

/** The content of GraphiQL's editors. */
export interface Text {
  readonly query: string;
  /** JSON, or empty. */
  readonly variables: string;
}

/** An example as the content of the editors. */
export function toTab(query: string): Text {
  return { query, variables: variablesLine.exec(query)?.[1] ?? '' };
}

function Operations({ operations }: { readonly operations: readonly ExampleOperation[] }) {
  const { addTab, queryEditor, variableEditor } = useEditorContext({ nonNull: true });
  const open = (text: string): void => {
    if (queryEditor === null) return;
    const { query, variables } = toTab(text);
    // Keep written text in its tab. GraphiQL empties the editors while it renders the new one.
    if (hasOperation(queryEditor.getValue())) flushSync(addTab);
    queryEditor.setValue(query);
    variableEditor?.setValue(variables);
    // GraphiQL parses the text a moment later, and would run the previous tab's operation.
    const documentAST = parse(query);
    const operations = documentAST.definitions.filter(
      (part): part is OperationDefinitionNode => part.kind === Kind.OPERATION_DEFINITION,
    );
    Object.assign(queryEditor, { documentAST, operations, operationName: operations[0]?.name?.value ?? null });
    queryEditor.focus();
  };
  return (
    <ul>
      {operations.map(({ title, query }) => (
        <li key={query}>
          <button type="button" className="quiet" onClick={() => open(query)}>
            {title}
          </button>
        </li>
      ))}
    </ul>
  );
}
