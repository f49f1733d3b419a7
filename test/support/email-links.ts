/**
 * The programs of examples/email-links as a person has them: run by npm against a listening gateway, with their templates
 * pushed by the command, emails delivered to a real mail server, and a browser to read and open them in.
 */
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { runCommand, temporaryDirectory } from '../commands/run-command.ts';
import { ref } from '../management/management.ts';
import { type TestAuth, testAuth } from './auth-service.ts';
import { findFreePort } from './free-port.ts';
import { anonKey, serviceKey } from './http.ts';
import { pathOfPerson } from './install-packages.ts';
import type { TestDatabase } from './postgres.ts';
import { type ReceivedMessage, startSmtpServer } from './smtp-server.ts';

const directory = join(import.meta.dirname, '../../examples/email-links');
const accessToken = 'sbp_0123456789012345678901234567890123456789';
const run = promisify(execFile);

/** What a program that ended has left behind. */
interface Ended {
  readonly code: number;
  /** What it printed, trimmed. */
  readonly text: string;
}

/** One pattern of links at work. */
export interface EmailLinks {
  readonly auth: TestAuth;
  /** Changes the auth configuration through the management API. */
  configure(values: AuthValues): Promise<void>;
  /** Starts a script of the example that goes on running, and makes it the site of the project; returns its origin. */
  serve(script: string): Promise<string>;
  /** Runs a script of the example to its end. */
  run(script: string, operands: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Path of a file that does not exist yet and is gone after the test. */
  newFile(): string;
  /** Emails that arrived for an address, oldest first. */
  emailsTo(address: string): readonly ReceivedMessage[];
  /** Opens the newest email to an address as a mail program in the browser does. */
  openEmail(page: Page, address: string): Promise<void>;
}

/** Starts a gateway with a mail server and the templates of the pattern. Everything stops when the test has ended. */
export async function startEmailLinks(database: TestDatabase, pattern: string): Promise<EmailLinks> {
  const smtp = await startSmtpServer({ tls: 'none' });
  const port = await findFreePort();
  const mailServer = { smtp_host: '127.0.0.1', smtp_port: String(smtp.port), smtp_admin_email: 'no-reply@app.test' };
  const externalUrl = `http://localhost:${port}`;
  const given = { host: 'localhost', port, externalUrl, projectRef: ref, accessToken };
  // What an earlier test stored would win over the start values.
  await database.query('delete from auth.pgreflect_config');
  // Pages look for an email as soon as they have their answer.
  const direct = { smtp_max_frequency: 0, mailer_delivery: 'direct' } as const;
  const auth = await testAuth(database, { ...mailServer, ...direct }, given);
  const settings = { API_URL: externalUrl, ANON_KEY: anonKey, SERVICE_KEY: serviceKey };
  const configure = (values: AuthValues) => patchConfig(externalUrl, values);
  await pushTemplates(externalUrl, pattern);
  const emailsTo = (address: string) => smtp.messages.filter(({ recipients }) => recipients.includes(address));
  return {
    auth,
    configure,
    emailsTo,
    newFile: () => join(temporaryDirectory(), 'file'),
    async serve(script) {
      const origin = await serveScript(script, settings);
      await configure({ site_url: origin });
      return origin;
    },
    run: (script, operands, env = {}) => runScript([script, '--', ...operands], { ...settings, ...env }),
    async openEmail(page, address) {
      const email = emailsTo(address).at(-1);
      if (email === undefined) throw new Error(`There is no email to ${address}.`);
      await page.goto('about:blank');
      await page.setContent(email.parsed.html ?? '');
    },
  };
}

/** A page of a browser of its own: no cookies, no storage. It is closed when the test has ended. */
export async function newPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return context.newPage();
}

/** What the page says has happened; waits until it says so. */
export async function expectStatus(page: Page, text: string): Promise<void> {
  await page.locator('#status', { hasText: text }).waitFor();
  expect(await page.locator('#status').textContent()).toBe(text);
}

/** What every program gets: the Node that runs the tests, and nothing else of this process. */
function baseEnvironment(): Record<string, string> {
  const { HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH: pathOfPerson(), HOME, NODE_COMPILE_CACHE };
}

async function pushTemplates(externalUrl: string, pattern: string): Promise<void> {
  const options = ['--dir', join(directory, pattern, 'templates'), '--external-url', externalUrl, '--project-ref', ref];
  const pushed = await runCommand(['templates', 'push', ...options], { env: { PGREFLECT_ACCESS_TOKEN: accessToken } });
  expect(pushed).toMatchObject({ code: 0 });
}

async function patchConfig(externalUrl: string, values: AuthValues): Promise<void> {
  const response = await fetch(`${externalUrl}/v1/projects/${ref}/config/auth`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(values),
  });
  expect(response.status).toBe(200);
}

/** Starts a script of the example, or of a copy of it, on a free port; it stops when the test has ended. Returns its origin. */
export function serveScript(
  script: string,
  settings: Readonly<Record<string, string>>,
  cwd = directory,
): Promise<string> {
  const env = { ...baseEnvironment(), PORT: '0', ...settings };
  // A group of its own, so that stopping it reaches the program behind npm too.
  const child = spawn('npm', ['run', '--silent', script], { cwd, env, detached: true });
  const ended = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
    await ended;
  });
  return new Promise((resolve, reject) => {
    let text = '';
    const read = (chunk: Buffer) => {
      text += chunk;
      const [origin] = /^http:\/\/localhost:\d+$/m.exec(text) ?? [];
      if (origin !== undefined) resolve(origin);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`npm run ${script} ended:\n${text}`)));
  });
}

async function runScript(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<Ended> {
  const options = { cwd: directory, env: { ...baseEnvironment(), ...settings }, timeout: 60_000 };
  try {
    const { stdout, stderr } = await run('npm', ['run', '--silent', ...args], options);
    return { code: 0, text: (stdout + stderr).trim() };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, text: (stdout + stderr).trim() };
  }
}
