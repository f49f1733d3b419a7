/** Programs that run an operation, for the clients that people use: complete, to be pasted and run. */
import { Kind, parse, print, visit } from 'graphql';
import { quoteForShell } from '../../../shared/quote-for-shell.ts';

/** A client. */
export type ClientName = (typeof clients)[number]['name'];

/** Where it runs, and what is installed before; null: nothing. */
export const clients = [
  { name: 'curl', title: 'curl', language: 'shell', install: null },
  { name: 'supabase-js', title: 'supabase-js', language: 'js', install: 'npm install @supabase/supabase-js' },
  { name: 'graphql-request', title: 'graphql-request', language: 'js', install: 'npm install graphql graphql-request' },
  { name: 'apollo', title: 'Apollo Client', language: 'js', install: 'npm install graphql rxjs @apollo/client' },
  { name: 'urql', title: 'urql', language: 'js', install: 'npm install graphql @urql/core' },
  {
    name: 'relay',
    title: 'Relay',
    language: 'js',
    install: 'npm install relay-runtime && npm install --save-dev relay-compiler',
  },
  { name: 'python', title: 'Python', language: 'python', install: null },
] as const;

/** Who calls: a visitor, a signed-in user, or a server with the service key. */
export type CallerKind = 'anon' | 'user' | 'service';

/** What a program runs, and where. */
export interface Call {
  /** Origin of the API. */
  readonly url: string;
  /** The anon key; it is public. */
  readonly anonKey: string;
  readonly caller: CallerKind;
  /** One operation with a name. */
  readonly query: string;
}

/** The program. */
export function codeOf(client: ClientName, call: Call): string {
  return { curl, 'supabase-js': supabase, 'graphql-request': request, apollo, urql, relay, python }[client](call);
}

function curl({ url, anonKey, caller, query }: Call): string {
  const headers = {
    anon: [quoteForShell(`apikey: ${anonKey}`)],
    user: [quoteForShell(`apikey: ${anonKey}`), '"Authorization: Bearer $ACCESS_TOKEN"'],
    service: ['"apikey: $SERVICE_KEY"'],
  }[caller];
  return [
    `curl -sS ${quoteForShell(`${url}/graphql/v1`)}`,
    ...[...headers, "'Content-Type: application/json'"].map((header) => `  -H ${header}`),
    `  -d ${quoteForShell(JSON.stringify({ query: onOneLine(query) }))}`,
  ].join(' \\\n');
}

/** Without line breaks: comments are none in what the examples print. */
function onOneLine(query: string): string {
  return query.replace(/(?<!\s)\s*\n\s*/g, ' ');
}

/** A text between backticks of JavaScript. */
function quoted(text: string, tag = ''): string {
  return `${tag}\`\n${indent(text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${'))}\n\``;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** The headers of the clients that leave the session to the application. */
function headersOf({ anonKey, caller }: Call): string {
  return {
    anon: `const headers = { apikey: '${anonKey}' };`,
    user: `// The access token of the signed-in user, as supabase-js has it in its session.
const headers = {
  apikey: '${anonKey}',
  authorization: \`Bearer \${process.env.ACCESS_TOKEN}\`,
};`,
    service: `// For servers only: this key passes row security.
const headers = { apikey: process.env.SERVICE_KEY };`,
  }[caller];
}

function isMutation(query: string): boolean {
  return query.trimStart().startsWith('mutation');
}

function supabase(call: Call): string {
  const { url, anonKey, caller, query } = call;
  const [key, note] =
    caller === 'service'
      ? ['process.env.SERVICE_KEY', '// For servers only: this key passes row security.\n']
      : [`'${anonKey}'`, ''];
  return `import { createClient } from '@supabase/supabase-js';

const url = '${url}';
${note}const key = ${key};
const supabase = createClient(url, key);

// supabase-js keeps the session; it has no method of its own for GraphQL.
const { data: { session } } = await supabase.auth.getSession();
const response = await fetch(\`\${url}/graphql/v1\`, {
  method: 'POST',
  headers: {
    apikey: key,
    authorization: \`Bearer \${session?.access_token ?? key}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    query: ${quoted(query).replace(/\n/g, '\n    ')},
  }),
});
const { data, errors } = await response.json();
console.dir({ data, errors }, { depth: null });
`;
}

function request(call: Call): string {
  return `import { gql, request } from 'graphql-request';

${headersOf(call)}
const document = ${quoted(call.query, 'gql')};
const data = await request('${call.url}/graphql/v1', document, {}, headers);
console.dir(data, { depth: null });
`;
}

function apollo(call: Call): string {
  const [method, name] = isMutation(call.query) ? ['mutate', 'mutation'] : ['query', 'query'];
  return `import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';

${headersOf(call)}
const client = new ApolloClient({
  link: new HttpLink({ uri: '${call.url}/graphql/v1', headers }),
  cache: new InMemoryCache(),
});
const ${name} = ${quoted(call.query, 'gql')};
const { data } = await client.${method}({ ${name} });
console.dir(data, { depth: null });
`;
}

function urql(call: Call): string {
  const method = isMutation(call.query) ? 'mutation' : 'query';
  return `import { Client, fetchExchange, gql } from '@urql/core';

${headersOf(call)}
const client = new Client({
  url: '${call.url}/graphql/v1',
  exchanges: [fetchExchange],
  fetchOptions: { headers },
});
const ${method} = ${quoted(call.query, 'gql')};
const { data, error } = await client.${method}(${method}, {}).toPromise();
console.dir({ data, error }, { depth: null });
`;
}

/** Relay names an operation after its file. */
function relay(call: Call): string {
  const isWrite = isMutation(call.query);
  const { file, query } = renamed(call.query, isWrite ? 'Mutation' : 'Query');
  // relay-compiler reads the tag as it is written: what JavaScript would read otherwise is escaped as in GraphQL.
  const tag = `graphql\`\n${indent(query.replaceAll('`', '\\u0060').replaceAll('${', '\\u0024{'))}\n\``;
  const names = [
    'Environment',
    'Network',
    'RecordSource',
    'Store',
    isWrite ? 'commitMutation' : 'fetchQuery',
    'graphql',
  ];
  const ran = isWrite
    ? `commitMutation(environment, {
  mutation,
  variables: {},
  onCompleted: (data, errors) => console.dir({ data, errors }, { depth: null }),
  onError: console.error,
});`
    : `const data = await fetchQuery(environment, query, {}).toPromise();
console.dir(data, { depth: null });`;
  return `// ${file}.js, after relay-compiler has read it. Its configuration: "schemaConfig": { "nodeInterfaceIdField": "nodeId" }
import { ${names.sort().join(', ')} } from 'relay-runtime';

${headersOf(call)}
const environment = new Environment({
  network: Network.create(async ({ text }, variables) => {
    const response = await fetch('${call.url}/graphql/v1', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query: text, variables }),
    });
    return response.json();
  }),
  store: new Store(new RecordSource()),
  getDataID: (row) => row.nodeId,
});
const ${isWrite ? 'mutation' : 'query'} = ${tag};
${ran}
`;
}

function renamed(query: string, ending: string): { readonly file: string; readonly query: string } {
  let file = 'Example';
  const changed = visit(parse(query), {
    [Kind.OPERATION_DEFINITION]: (operation) => {
      file = operation.name?.value ?? file;
      return { ...operation, name: { kind: Kind.NAME, value: `${file}${ending}` } as const };
    },
  });
  return { file, query: print(changed) };
}

function python({ url, anonKey, caller, query }: Call): string {
  const text = query.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"');
  const headers = {
    anon: [`"apikey": "${anonKey}"`],
    user: [`"apikey": "${anonKey}"`, `"Authorization": "Bearer " + os.environ["ACCESS_TOKEN"]`],
    service: [`"apikey": os.environ["SERVICE_KEY"]`],
  }[caller];
  return `import json
${caller === 'anon' ? '' : 'import os\n'}import urllib.request

query = """
${text}
"""
request = urllib.request.Request(
    "${url}/graphql/v1",
    data=json.dumps({"query": query}).encode(),
    headers={
${[...headers, '"Content-Type": "application/json"'].map((line) => `        ${line},`).join('\n')}
    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))
`;
}
