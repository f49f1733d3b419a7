/** What is said of one table, one function, or one way to sign in: what it is, and programs that call it. */
import { javascriptLanguage } from '@codemirror/lang-javascript';
import { assertObjectType, type GraphQLSchema } from 'graphql';
import { Breakable } from '../../components/breakable.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Rows } from '../../components/rows.tsx';
import { SourceCode } from '../../components/source-code.tsx';
import { type CallerKind, type ClientName, clients, codeOf } from '../../shared/client-code.ts';
import { type ExampleFunction, exampleOperations } from '../../shared/example-operations.ts';
import { type AuthFlow, codeOfStep } from './auth-flows.ts';

/** Where the programs call, and as whom. */
export interface Project {
  readonly url: string;
  readonly anonKey: string;
  readonly caller: CallerKind;
}

interface DocsProps {
  readonly client: ClientName;
  readonly project: Project;
}

/** A table: its fields, and an operation of each kind. */
export function TableDocs({
  name,
  schema,
  client,
  project,
}: DocsProps & { readonly name: string; readonly schema: GraphQLSchema }) {
  const type = assertObjectType(schema.getType(name));
  return (
    <>
      <h2>{name}</h2>
      {type.description && <p className="soft">{type.description}</p>}
      <div className="table-docs">
        <div className="programs">
          <Install client={client} />
          {exampleOperations(schema, name).map(({ title, query }) => (
            <Program key={title} title={title} client={client} text={codeOf(client, { ...project, query })} />
          ))}
        </div>
        <Rows label={`Fields of ${name}`} columns={['Field', 'Type', 'Description']}>
          {Object.values(type.getFields()).map((field) => (
            <tr key={field.name}>
              <th scope="row">
                <Breakable text={field.name} />
              </th>
              <td>
                <code>
                  <Breakable text={String(field.type)} />
                </code>
              </td>
              <td className="soft small">{field.description}</td>
            </tr>
          ))}
        </Rows>
      </div>
    </>
  );
}

/** A function. */
export function FunctionDocs({ routine, client, project }: DocsProps & { readonly routine: ExampleFunction }) {
  const { name, description, title, query } = routine;
  return (
    <>
      <h2>{name}</h2>
      {description !== null && <p className="soft">{description}</p>}
      <Install client={client} />
      <Program title={title} client={client} text={codeOf(client, { ...project, query })} />
    </>
  );
}

/** A way to sign in. Clients of GraphQL alone use supabase-js for it. */
export function FlowDocs({ flow, client, project }: DocsProps & { readonly flow: AuthFlow }) {
  const shown = client === 'curl' ? 'curl' : 'supabase-js';
  return (
    <>
      <h2>{flow.title}</h2>
      <p className="soft">{flow.about}</p>
      {shown !== client && (
        <p className="notice">
          {clients.find(({ name }) => name === client)?.title} runs GraphQL. To sign in, use supabase-js beside it, and
          send the access token of its session.
        </p>
      )}
      <Install client={shown} />
      {flow.steps.map((step) => (
        <Program key={step.title} title={step.title} client={shown} text={codeOfStep(shown, step, project)} />
      ))}
    </>
  );
}

function Install({ client }: { readonly client: ClientName }) {
  const install = clients.find(({ name }) => name === client)?.install ?? null;
  if (install === null) return null;
  return (
    <div className="row install">
      <code>{install}</code> <CopyButton text={install} what="the command" isIcon />
    </div>
  );
}

interface ProgramProps {
  readonly title: string;
  readonly client: ClientName;
  readonly text: string;
}

function Program({ title, client, text }: ProgramProps) {
  const isScript = clients.find(({ name }) => name === client)?.language === 'js';
  return (
    <section className="stack" aria-label={title}>
      <div className="spread">
        <h3>{title}</h3>
        <CopyButton text={text} what={`the program: ${title}`} />
      </div>
      <SourceCode text={text} parser={isScript ? javascriptLanguage.parser : null} />
    </section>
  );
}
