/**
 * What an application does at a project, with the published client: sign-ins with old passwords, old sessions and second factors,
 * operations under row security, emails and their links. The result has nothing that differs from project to project.
 */
import { fromBase32, totpCode, totpStep } from '../../src/auth/secrets/totp.ts';
import { type SupabaseClient, supabaseClient } from '../support/supabase-js.ts';

/** Where the application runs. */
export interface AppWorld {
  readonly url: string;
  readonly anonKey: string;
  readonly serviceKey: string;
  /** Emails to an address, the newest first. */
  emailsTo(address: string): Promise<readonly { readonly subject: string; readonly html: string }[]>;
}

/** Names of what the application saw, with the values. */
export type Seen = Readonly<Record<string, unknown>>;

const queries = {
  posts: `{ postsCollection(first: 4, orderBy: [{ id: AscNullsLast }]) { totalCount edges { node {
    id title content meta labels createdAt author { displayName email } club { name slug }
    commentsCollection { edges { node { body } } } postTagsCollection { edges { node { tag { label } } } } } } } }`,
  others: `{ postsCollection(filter: { id: { in: ["1", "4", "10"] } }) { edges { node { id } } } }`,
  clubs: '{ clubsCollection { edges { node { name slug } } } }',
  members:
    '{ membersCollection(first: 3, orderBy: [{ score: DescNullsLast }]) { edges { node { role score joined } } } }',
  mine: '{ myPostsCollection { edges { node { title } } } }',
  search: '{ searchPosts(term: "post 2 of member 1") { edges { node { title } } } }',
  invites: '{ invitesCollection { edges { node { email token } } } }',
  audit: '{ auditCollection { edges { node { what } } } }',
} as const;

const writes = {
  insert: `mutation { insertIntoPostsCollection(objects: [
    { title: "New", clubId: "33333333-0000-4000-8000-000000000002", labels: ["x"] }, { title: "Second", clubId: "33333333-0000-4000-8000-000000000002" }
  ]) { affectedCount records { id title author { email } } } }`,
  elsewhere: `mutation { insertIntoPostsCollection(objects: [{ title: "No", clubId: "33333333-0000-4000-8000-000000000001" }]) { affectedCount } }`,
  updateAll:
    'mutation { updatePostsCollection(set: { title: "Changed" }, atMost: 10) { affectedCount records { title } } }',
  deleteOwn: 'mutation { deleteFromPostsCollection(filter: { id: { eq: "1" } }) { affectedCount records { id } } }',
  deleteOther: 'mutation { deleteFromPostsCollection(filter: { id: { eq: "13" } }) { affectedCount } }',
  pin: 'mutation { hashPin(pin: "1234") }',
  createClub: 'mutation { createClub(name: "Mine", slug: "mine") { name slug } }',
} as const;

/** Runs the application once. What it writes stays. */
export async function driveApp(world: AppWorld): Promise<Seen> {
  const seen: Record<string, unknown> = {};
  for (const n of [1, 2, 42, 100]) {
    const { session, client: _, ...rest } = await signIn(world, n);
    seen[`member ${n} signs in`] = { ...rest, claims: claimsOf(session?.access_token) };
  }
  for (const n of [98, 99]) seen[`member ${n}`] = (await signIn(world, n)).code;
  seen['a wrong password'] = (await signIn(world, 1, 'wrong')).code;

  const member = await signIn(world, 1);
  const ask = (query: string, token: string | undefined) => graphql(world, query, token);
  const token = member.session?.access_token;
  for (const [name, query] of Object.entries(queries)) {
    seen[`${name} of a member`] = await ask(query, token);
    seen[`${name} of a visitor`] = await ask(query, undefined);
    seen[`${name} of a server`] = await ask(query, world.serviceKey);
  }
  seen['clubs of an admin'] = await ask(queries.clubs, (await signIn(world, 3)).session?.access_token);
  for (const [name, query] of Object.entries(writes)) {
    seen[`${name} by a visitor`] = await ask(query, undefined);
    seen[`${name} by a member`] = await ask(query, token);
  }
  seen['what was audited'] = await ask(queries.audit, world.serviceKey);

  seen['an old session'] = await renewSession(world);
  seen['a second factor'] = await answerFactor(world);
  seen.emails = await useEmails(world);
  return seen;
}

async function signIn(world: AppWorld, n: number, password = `password of ${n}`) {
  const client = supabaseClient(world.url, {}, world.anonKey);
  const { data, error } = await client.auth.signInWithPassword({ email: `member${n}@club.test`, password });
  const { user, session } = data;
  const { user_metadata, app_metadata, factors = [] } = user ?? {};
  return { client, code: error?.code ?? null, user_metadata, app_metadata, factors: factors.length, session } as const;
}

function claimsOf(token: string | undefined) {
  if (token === undefined) return null;
  const { iat, exp, iss, session_id, amr, ...claims } = JSON.parse(
    Buffer.from(token.split('.')[1]!, 'base64url').toString(),
  );
  return { ...claims, lifetime: exp - iat };
}

async function graphql({ url, anonKey }: AppWorld, query: string, token: string | undefined): Promise<unknown> {
  const response = await fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: {
      apikey: anonKey,
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query }),
  });
  // A hash has a salt.
  return JSON.parse((await response.text()).replace(/\$2a\$04\$[^"]+/, 'a hash'));
}

/** The refresh token of before, from the storage of the client. */
async function renewSession({ url, anonKey }: AppWorld): Promise<unknown> {
  const client = supabaseClient(url, {}, anonKey);
  const { data, error } = await client.auth.refreshSession({ refresh_token: 'refresh00005' });
  const { data: again } = await client.auth.getUser();
  return { email: data.user?.email, again: again.user?.email, error: error?.code ?? null };
}

async function answerFactor(world: AppWorld): Promise<unknown> {
  const { client } = await signIn(world, 7);
  const { data: before } = await client.auth.mfa.getAuthenticatorAssuranceLevel();
  const code = totpCode(fromBase32('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP')!, totpStep(Date.now()));
  const { error } = await client.auth.mfa.challengeAndVerify({
    factorId: '22222222-0000-4000-8000-000000000007',
    code,
  });
  const { data: after } = await client.auth.mfa.getAuthenticatorAssuranceLevel();
  return { next: before.nextLevel, to: after.currentLevel, error: error?.code ?? null };
}

/** Each email as it looks, and what its link gives. */
async function useEmails(world: AppWorld): Promise<unknown> {
  const client = () => supabaseClient(world.url, {}, world.anonKey);
  const server = supabaseClient(world.url, {}, world.serviceKey);
  const emailRedirectTo = 'https://club.test/welcome';
  const ended: unknown[] = [];
  const look = async (address: string) => {
    const [email] = await world.emailsTo(address);
    const [, href = ''] = /href="([^"]+)"/.exec(email?.html ?? '') ?? [];
    ended.push([email?.subject, mask(world, email?.html ?? ''), await follow(world, href.replaceAll('&amp;', '&'))]);
  };
  await client().auth.signUp({
    email: 'new@club.test',
    password: 'a new password',
    options: { data: { full_name: 'Nia' }, emailRedirectTo },
  });
  await look('new@club.test');
  const { data } = await client().auth.signInWithPassword({ email: 'new@club.test', password: 'a new password' });
  ended.push(
    await graphql(
      world,
      '{ profilesCollection(filter: { fullName: { eq: "Nia" } }) { edges { node { email } } } }',
      data.session?.access_token,
    ),
  );
  await client().auth.resetPasswordForEmail('member2@club.test', { redirectTo: emailRedirectTo });
  await look('member2@club.test');
  await client().auth.signInWithOtp({ email: 'member5@club.test' });
  await look('member5@club.test');
  await server.auth.admin.inviteUserByEmail('guest@club.test', { redirectTo: emailRedirectTo });
  await look('guest@club.test');
  const { client: mover } = await signIn(world, 6);
  await mover.auth.updateUser({ email: 'moved@club.test' }, { emailRedirectTo });
  await look('member6@club.test');
  await look('moved@club.test');
  ended.push((await mover.auth.getUser()).data.user?.email);
  return ended;
}

function mask({ url }: AppWorld, html: string): string {
  return html
    .replaceAll(url, 'URL')
    .replace(/(token(?:_hash)?=)[\w-]+/g, '$1…')
    .replace(/\b\d{6}\b/g, '…');
}

/** Opens a link as a browser does; one of the application itself is answered with the client. */
async function follow({ url, anonKey }: AppWorld, link: string): Promise<unknown> {
  const { searchParams } = new URL(link);
  if (!link.startsWith(url)) {
    const client: SupabaseClient = supabaseClient(url, {}, anonKey);
    const { data, error } = await client.auth.verifyOtp({
      token_hash: searchParams.get('token_hash'),
      type: searchParams.get('type'),
    });
    return { email: data.user?.email, error: error?.code ?? null };
  }
  const response = await fetch(link, { redirect: 'manual' });
  const [place = '', fragment = ''] = (response.headers.get('location') ?? '').split('#');
  return { status: response.status, place, gives: [...new URLSearchParams(fragment).keys()] };
}
