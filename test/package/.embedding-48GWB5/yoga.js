import { print } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { graphql } from './graphql.js';

const role = 'anon';

export const yoga = createYoga({
  graphqlEndpoint: '/graphql/v1',
  schema: await graphql.schema(role),
  plugins: [
    {
      onExecute({ args: { document, operationName, variableValues: variables }, setExecuteFn }) {
        setExecuteFn(() => graphql.execute({ role }, { query: print(document), operationName, variables }));
      },
    },
  ],
});
