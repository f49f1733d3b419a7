/**
 * Real processes (`pgreflect serve`) that send the emails of one database, and users who change their passwords there.
 */
import { type Running, startCommand } from '../commands/run-command.ts';
import { send } from '../support/auth-service.ts';
import { secret, serviceKey } from '../support/http.ts';
import type { TestDatabase } from '../support/postgres.ts';
import type { TestSmtpServer } from '../support/smtp-server.ts';

const password = 'a good password';
const admin = { key: serviceKey, token: serviceKey } as const;

/** A process that serves. */
export interface OutboxProcess {
  readonly url: string;
  readonly command: Running;
}

/** Starts one; `adminUrl` where its connection to the database goes elsewhere first. */
export async function startOutboxProcess(
  database: TestDatabase,
  smtp: Pick<TestSmtpServer, 'port'>,
  adminUrl = database.url,
): Promise<OutboxProcess> {
  const env = {
    DATABASE_URL: database.urlAs('authenticator', 'test'),
    PGREFLECT_ADMIN_DATABASE_URL: adminUrl,
    PGREFLECT_JWT_SECRET: secret,
    PGREFLECT_SMTP_HOST: '127.0.0.1',
    PGREFLECT_SMTP_PORT: String(smtp.port),
    PGREFLECT_SMTP_ADMIN_EMAIL: 'no-reply@app.test',
    PGREFLECT_SITE_URL: 'https://app.test',
    PGREFLECT_RATE_LIMIT_EMAIL_SENT: '1000',
    PGREFLECT_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true',
    // A busy machine is no reason to refuse.
    PGREFLECT_POOL_WAIT_MS: '60000',
    PGREFLECT_API_MAX_REQUEST_DURATION: '60',
  };
  const args = ['serve', '--port', '0', '--auth-pool-size', '40', '--prepared-statements', 'false'];
  const command = startCommand(args, { env });
  const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
  return { url, command };
}

/** A new user. @returns An access token. */
export async function signIn(url: string, email: string): Promise<string> {
  await send(url, '/admin/users', { email, password, email_confirm: true }, admin);
  return (await send(url, '/token?grant_type=password', { email, password }, {})).body.access_token;
}

/** Changes it, as its user. */
export const setPassword = (url: string, token: string) =>
  send(url, '/user', { password: 'another password' }, { method: 'PUT', token });

/** Emails that are stored and not yet sent. */
export const waitingEmails = (database: TestDatabase) => database.query('select attempts from pgreflect_queue.emails');
