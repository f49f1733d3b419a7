/**
 * An app with a URL scheme of its own, here one for the terminal:
 *
 *     node deep-link/main.ts sign-in ADDRESS     asks for the email
 *     node deep-link/main.ts URL                 what the operating system runs when a link of the scheme is opened
 *     node deep-link/main.ts                     says who is signed in
 *
 * Any app may claim a scheme, so a session does not travel in the URL. The link of the email brings a code (PKCE) that is worth
 * something only together with the secret that this app kept when it asked for the email.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createClient, type EmailOtpType } from '@supabase/supabase-js';
import { apiUrl, required } from '../settings.ts';

const anonKey = required('ANON_KEY');
const scheme = 'com.example.notes:';
const file = process.env.SESSION_FILE ?? join(homedir(), '.example-notes.json');

const supabase = createClient(apiUrl, anonKey, {
  auth: { flowType: 'pkce', storage: fileStorage(), storageKey: 'session', autoRefreshToken: false },
});

const [first, address = ''] = process.argv.slice(2);
if (first === 'sign-in') await askForEmail(address);
else if (first !== undefined) await openLink(first);
else await sayWhoIsSignedIn();

async function askForEmail(email: string): Promise<void> {
  const options = { emailRedirectTo: `${scheme}//signed-in` };
  const { error } = await supabase.auth.signInWithOtp({ email, options });
  if (error) return fail(error.message);
  console.log(`An email is on its way to ${email}`);
}

/** Any page can open our links: what they say is checked by the auth service, and nothing of it is run or shown but as text. */
async function openLink(link: string): Promise<void> {
  const url = URL.parse(link);
  if (url?.protocol !== scheme) return fail('This is no link of this app.');
  const { code, token_hash, type, error_description } = Object.fromEntries(url.searchParams);
  if (code !== undefined) {
    const { error } = await supabase.auth.exchangeCodeForSession(code);
    if (error) return fail(error.message);
  } else if (token_hash !== undefined) {
    const { error } = await supabase.auth.verifyOtp({ token_hash, type: type as EmailOtpType });
    if (error) return fail(error.message);
  } else return fail(error_description ?? 'This link is not complete.');
  await sayWhoIsSignedIn();
}

async function sayWhoIsSignedIn(): Promise<void> {
  const { data } = await supabase.auth.getUser();
  console.log(data.user === null ? 'Not signed in' : `Signed in as ${data.user.email}`);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

/** What the client keeps between two runs, readable for its owner alone. An app for a phone takes its key store. */
function fileStorage() {
  const read = (): Record<string, string> => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      return {};
    }
  };
  const write = (items: Record<string, string>) => writeFileSync(file, JSON.stringify(items), { mode: 0o600 });
  return {
    getItem: (name: string) => read()[name] ?? null,
    setItem: (name: string, value: string) => write({ ...read(), [name]: value }),
    removeItem: (name: string) => write(Object.fromEntries(Object.entries(read()).filter(([key]) => key !== name))),
  };
}
