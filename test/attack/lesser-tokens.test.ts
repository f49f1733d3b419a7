/** Access tokens with few scopes, in the hands of somebody who wants to become a user or to make the gateway work for long. */
import { expect, test } from 'vitest';
import { accessScopes } from '../../src/management/tokens/access-tokens.ts';
import { addToken } from '../management/management.ts';
import { testAuth } from '../support/auth-service.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase();

test('a token that cannot become a user reads no captured email, whose link and code sign in', async () => {
  const auth = await testAuth(database);
  await auth.ask('/otp', { email: 'victim@x.test' });
  const { code } = await auth.message('victim@x.test');
  for (const scope of accessScopes) {
    const token = await addToken(database, { scopes: [scope] });
    const may = scope === 'auth_config:write' || scope === 'project:operate';
    const response = await fetch(`${auth.url}/studio/inbox.json`, { headers: { authorization: `Bearer ${token}` } });
    const hasCode = (await response.text()).includes(code);
    expect({ scope, status: response.status, hasCode }).toEqual({ scope, status: may ? 200 : 401, hasCode: may });
  }
});
