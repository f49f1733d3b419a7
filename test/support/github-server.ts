/**
 * GitHub as its documentation has it, as far as sign-in needs it: the pages of `/login/oauth` and the API of its Enterprise
 * Server. Whoever comes is signed in as the user that the test says.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { atEnd } from './when-over.ts';

/** Who is signed in there. */
interface GitHubUser {
  readonly id: number;
  readonly login: string;
  readonly name: string | null;
  readonly avatar_url: string;
  readonly emails: readonly { readonly email: string; readonly primary: boolean; readonly verified: boolean }[];
}

/** The running server. */
export interface GitHubServer {
  readonly site: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** A test sets it. */
  user: GitHubUser | null;
}

type Reply = readonly [status: number, headers: Record<string, string>, body: string];

/** Starts it; stopped after the test file. */
export async function startGitHubServer(): Promise<GitHubServer> {
  const server = createServer((request, response) => {
    answer(github, granted, request).then(
      ([status, headers, body]) => response.writeHead(status, headers).end(body),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close().closeAllConnections());
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const granted: Grants = { codes: new Map(), tokens: new Map() };
  const github: GitHubServer = { site, clientId: 'Iv1.client', clientSecret: 'secret of GitHub', user: null };
  return github;
}

interface Grants {
  readonly codes: Map<string, { readonly user: GitHubUser; readonly redirectUri: string; readonly scope: string }>;
  readonly tokens: Map<string, { readonly user: GitHubUser; readonly scope: string }>;
}

async function answer(github: GitHubServer, grants: Grants, request: IncomingMessage): Promise<Reply> {
  const url = new URL(request.url ?? '', github.site);
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /login/oauth/authorize':
      return authorize(github, grants, url.searchParams);
    case 'POST /login/oauth/access_token':
      return exchange(github, grants, request, new URLSearchParams(await text(request)));
    case 'GET /api/v3/user':
      return callApi(grants, request, ({ user: { emails: _, ...user } }) => user);
    case 'GET /api/v3/user/emails':
      return callApi(grants, request, ({ user, scope }) =>
        scope.split(' ').includes('user:email') ? user.emails : null,
      );
    default:
      return json(404, { message: 'Not Found' });
  }
}

function authorize({ clientId, user }: GitHubServer, { codes }: Grants, query: URLSearchParams): Reply {
  const redirectUri = query.get('redirect_uri') ?? '';
  const back = new URL(redirectUri);
  if (query.get('client_id') !== clientId || user === null) return json(404, {});
  const code = randomBytes(10).toString('hex');
  codes.set(code, { user, redirectUri, scope: query.get('scope') ?? '' });
  back.searchParams.set('code', code);
  back.searchParams.set('state', query.get('state') ?? '');
  return [302, { location: back.href }, ''];
}

/** Refusals have the status 200 there, too; without the header the answer would be a form. */
function exchange(github: GitHubServer, grants: Grants, request: IncomingMessage, form: URLSearchParams): Reply {
  const isKnown = form.get('client_id') === github.clientId && form.get('client_secret') === github.clientSecret;
  if (!isKnown) return json(200, { error: 'incorrect_client_credentials' });
  const grant = grants.codes.get(form.get('code') ?? '');
  grants.codes.delete(form.get('code') ?? '');
  if (grant === undefined) return json(200, { error: 'bad_verification_code', error_description: 'expired' });
  if (form.get('redirect_uri') !== grant.redirectUri) return json(200, { error: 'redirect_uri_mismatch' });
  const access_token = `gho_${randomBytes(10).toString('hex')}`;
  grants.tokens.set(access_token, grant);
  const body = { access_token, token_type: 'bearer', scope: grant.scope.replaceAll(' ', ',') };
  const isJson = request.headers.accept?.includes('application/json');
  return isJson
    ? json(200, body)
    : [200, { 'content-type': 'application/x-www-form-urlencoded' }, `${new URLSearchParams(body)}`];
}

type Granted = { readonly user: GitHubUser; readonly scope: string };

function callApi({ tokens }: Grants, request: IncomingMessage, read: (granted: Granted) => unknown): Reply {
  // The documentation asks for a name of the program that calls.
  if (!request.headers['user-agent']) return json(403, { message: 'Request forbidden by administrative rules.' });
  const granted = tokens.get(request.headers.authorization?.replace(/^bearer /i, '') ?? '');
  if (granted === undefined) return json(401, { message: 'Bad credentials' });
  const body = read(granted);
  return body === null ? json(404, { message: 'Not Found' }) : json(200, body);
}

function json(status: number, body: unknown): Reply {
  return [status, { 'content-type': 'application/json; charset=utf-8' }, JSON.stringify(body)];
}
