/** The schema of a role, as the gateway prints it for code generators. */
import { buildSchema, type GraphQLSchema } from 'graphql';
import { type Answer, useAnswer } from './requests.ts';
import { askAsOperator } from './session.ts';

interface RoleSdl {
  readonly role: string;
  readonly schema: GraphQLSchema;
}

/** Hook: the schema; null while it is loading. */
export function useRoleSdl(role: string): Pick<Answer<GraphQLSchema>, 'value' | 'problem'> {
  const { value, problem } = useAnswer<RoleSdl>(role, async (signal) => {
    const path = `/graphql/v1/schema.graphql?${new URLSearchParams({ role })}`;
    const { body } = await askAsOperator<string>(path, { signal });
    return { role, schema: buildSchema(body, { assumeValid: true }) };
  });
  return { value: value?.role === role ? value.schema : null, problem };
}
