/** The ways to sign in, and what follows: each as programs to be pasted. Other clients of GraphQL leave this to supabase-js. */
import { quoteForShell } from '../../../../shared/quote-for-shell.ts';

/** Who shows these. */
export type AuthClient = 'supabase-js' | 'curl';

/** A way. */
export interface AuthFlow {
  /** Its part of the address. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly steps: readonly AuthStep[];
}

/** One call of it. */
interface AuthStep {
  readonly title: string;
  /** What supabase-js calls: `signUp({ … })`, with its name before. */
  readonly call: string;
  readonly path: string;
  /** Null: the step has no body. */
  readonly body: Readonly<Record<string, unknown>> | null;
  /** Default: POST. */
  readonly method?: 'GET' | 'PUT';
  /** Whether it needs the access token of the user. */
  readonly isOwn?: boolean;
}

const email = 'ada@example.com';
const password = 'correct-horse-battery';

/** All of them. */
export const authFlows: readonly AuthFlow[] = [
  {
    name: 'password',
    title: 'Email and password',
    about: 'Sign-up sends an email with a link and a code. After that, the password signs in.',
    steps: [
      {
        title: 'Sign up',
        call: `signUp({ email: '${email}', password: '${password}' })`,
        path: 'signup',
        body: { email, password },
      },
      {
        title: 'Confirm with the code of the email',
        call: `verifyOtp({ email: '${email}', token: '123456', type: 'email' })`,
        path: 'verify',
        body: { type: 'email', email, token: '123456' },
      },
      {
        title: 'Sign in',
        call: `signInWithPassword({ email: '${email}', password: '${password}' })`,
        path: 'token?grant_type=password',
        body: { email, password },
      },
    ],
  },
  {
    name: 'link',
    title: 'Link or code by email',
    about: 'Without a password: an email with a link and a code, either of which signs in.',
    steps: [
      {
        title: 'Send the email',
        call: `signInWithOtp({ email: '${email}' })`,
        path: 'otp',
        body: { email, create_user: true },
      },
      {
        title: 'Sign in with the code',
        call: `verifyOtp({ email: '${email}', token: '123456', type: 'email' })`,
        path: 'verify',
        body: { type: 'email', email, token: '123456' },
      },
    ],
  },
  {
    name: 'recovery',
    title: 'Forgotten password',
    about: 'An email signs in once; then the user sets another password.',
    steps: [
      {
        title: 'Send the email',
        call: `resetPasswordForEmail('${email}')`,
        path: 'recover',
        body: { email },
      },
      {
        title: 'Set another password',
        call: `updateUser({ password: '${password}' })`,
        path: 'user',
        method: 'PUT',
        body: { password },
        isOwn: true,
      },
    ],
  },
  {
    name: 'session',
    title: 'Session',
    about: 'supabase-js renews the access token by itself. Other programs renew it before it expires.',
    steps: [
      { title: 'Read the user', call: 'getUser()', path: 'user', method: 'GET', body: null, isOwn: true },
      {
        title: 'Renew the access token',
        call: 'refreshSession()',
        path: 'token?grant_type=refresh_token',
        body: { refresh_token: '$REFRESH_TOKEN' },
      },
      { title: 'Sign out', call: 'signOut()', path: 'logout', body: null, isOwn: true },
    ],
  },
];

interface Place {
  readonly url: string;
  readonly anonKey: string;
}

/** A step as a program. */
export function codeOfStep(client: AuthClient, step: AuthStep, place: Place): string {
  return client === 'curl' ? curl(step, place) : supabase(step, place);
}

function supabase({ call }: AuthStep, { url, anonKey }: Place): string {
  return `import { createClient } from '@supabase/supabase-js';

const supabase = createClient('${url}', '${anonKey}');
const { data, error } = await supabase.auth.${call};
console.dir({ data, error }, { depth: null });
`;
}

function curl({ path, body, method, isOwn = false }: AuthStep, { url, anonKey }: Place): string {
  // Within double quotes the shell puts the value in.
  const given = JSON.stringify(body);
  const data = given?.includes('$') ? `"${given.replaceAll('"', '\\"')}"` : quoteForShell(given ?? '');
  return [
    `curl -sS ${method === 'PUT' ? '-X PUT ' : ''}${body === null && method === undefined ? '-X POST ' : ''}${quoteForShell(`${url}/auth/v1/${path}`)}`,
    `  -H ${quoteForShell(`apikey: ${anonKey}`)}`,
    ...(isOwn ? ['  -H "Authorization: Bearer $ACCESS_TOKEN"'] : []),
    ...(body === null ? [] : ["  -H 'Content-Type: application/json'", `  -d ${data}`]),
  ].join(' \\\n');
}
