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
  const read = async (path: string, token: string) => {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${auth.url}/studio/${path}`, { headers, signal: leaving.signal });
    const { value } = await response.body!.getReader().read();
    leaving.abort();
    return { status: response.status, hasCode: Buffer.from(value!).includes(code) };
  };
  for (const scope of accessScopes) {
    const token = await addToken(database, { scopes: [scope] });
    const may = scope === 'auth_config:write' || scope === 'project:operate';
    for (const path of ['inbox.json', 'inbox.events'])
      expect([scope, path, await read(path, token)]).toEqual([scope, path, { status: may ? 200 : 401, hasCode: may }]);
  }
});
