/**
 * A panel of GraphiQL with operations to start from: those that the project brings, and some for each table of the schema.
 */
import { type GraphiQLPlugin, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { Kind, parse } from 'graphql';
import { useMemo, useState } from 'react';
import { ExamplesIcon } from '../../components/icons.tsx';
import { type ExampleOperation, exampleOperations, exampleTables } from './example-operations.ts';

/** Title of the panel. */
export const examplesTitle = 'Examples';

/** @param own Texts of the operations that the project brings. */
export function examplesPlugin(own: readonly string[]): GraphiQLPlugin {
  const known = own.map((query) => ({ title: titleOf(query), query }));
  return { title: examplesTitle, icon: ExamplesIcon, content: () => <Examples own={known} /> };
}

/** The comment above it: `# The first query: three products`. */
function titleOf(query: string): string {
  return /^# *(.+)/.exec(query)?.[1] ?? query.split('\n')[0] ?? '';
}

function Examples({ own }: { readonly own: readonly ExampleOperation[] }) {
  const schema = useGraphiQL(({ schema: read }) => read) ?? null;
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
        <p className="soft">They are made of the tables that the caller sees. This one sees none.</p>
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

/** What the editor takes: the text of an example and its variables. */
export function toTab(query: string): { readonly query: string; readonly variables: string | null } {
  return { query, variables: variablesLine.exec(query)?.[1] ?? null };
}

function Operations({ operations }: { readonly operations: readonly ExampleOperation[] }) {
  const { addTab, setOperationFacts } = useGraphiQLActions();
  const { queryEditor, variableEditor } = useGraphiQL(({ queryEditor: texts, variableEditor: values }) => ({
    queryEditor: texts,
    variableEditor: values,
  }));
  const open = (text: string): void => {
    const { query, variables } = toTab(text);
    // What somebody has written stays in its tab.
    if (hasOperation(queryEditor?.getValue() ?? '')) addTab();
    queryEditor?.setValue(query);
    variableEditor?.setValue(variables ?? '');
    // GraphiQL reads the text a moment later, and would run the operation of the tab before.
    const documentAST = parse(query);
    const operations = documentAST.definitions.filter((part) => part.kind === Kind.OPERATION_DEFINITION);
    setOperationFacts({ documentAST, operations, operationName: operations[0]?.name?.value ?? '' });
    queryEditor?.focus();
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

/** Whether there is anything but comments. */
export function hasOperation(text: string): boolean {
  return text.replace(/#.*/g, '').trim() !== '';
}
