/**
 * What a soak talks to, all of it real: one gateway with everything on, PostgreSQL, a mail server, the target of a webhook, and a
 * collector of traces.
 */
import { readFileSync } from 'node:fs';
import { runProcess } from '../commands/run-command.ts';
import { changingTable } from '../live/changing-table.ts';
import {
  authSettings,
  createDatabase,
  createMailServers,
  type MailServers,
  type RestartableDatabase,
  startGateway,
} from '../storm/world.ts';
import { type SpanCounter, startSpanCounter } from '../support/collector.ts';
import { findFreePort } from '../support/free-port.ts';
import { type HookServer, hookSecret, startHookServer } from '../support/hook-server.ts';
import { secret } from '../support/http.ts';
import type { WhenOver } from '../support/when-over.ts';
import type { MemoryWatch } from './memory.ts';

/** Of the gateway, for requests of the API. */
export const poolSize = 8;

export interface Servers {
  readonly database: RestartableDatabase;
  readonly mail: MailServers;
  readonly hook: HookServer;
  readonly collector: SpanCounter;
  readonly url: string;
  readonly metricsUrl: string;
  /** What the gateway has logged that is worth a look. */
  complaints(): readonly string[];
}

/** Starts everything. */
export async function startServers(clients: number, memory: MemoryWatch, whenOver: WhenOver): Promise<Servers> {
  const database = await createDatabase(whenOver);
  await prepare(database, clients);
  const mail = await createMailServers(whenOver);
  const hook = await startHookServer(hookSecret, whenOver);
  const collector = await startSpanCounter(whenOver);
  const metricsPort = await findFreePort();
  const env = {
    ...authSettings,
    PGREFLECT_DATABASE_URL: database.urlAs('authenticator'),
    PGREFLECT_ADMIN_DATABASE_URL: database.urlAs('auth_admin'),
    PGREFLECT_JWT_SECRET: secret,
    PGREFLECT_MAILER_DELIVERY: 'queue',
    PGREFLECT_SMTP_HOST: '127.0.0.1',
    PGREFLECT_SMTP_PORT: String(mail.port),
    PGREFLECT_HOOK_CUSTOM_ACCESS_TOKEN_ENABLED: 'true',
    PGREFLECT_HOOK_CUSTOM_ACCESS_TOKEN_URI: 'pg-functions://postgres/app/add_plan',
    PGREFLECT_HOOK_BEFORE_USER_CREATED_ENABLED: 'true',
    PGREFLECT_HOOK_BEFORE_USER_CREATED_URI: hook.url,
    PGREFLECT_HOOK_BEFORE_USER_CREATED_SECRETS: hookSecret,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
    ...memory.env,
  };
  const options = ['--schemas', 'public', '--metrics-port', `${metricsPort}`, '--pool-size', `${poolSize}`];
  const { url, complaints } = await startGateway(env, whenOver, { health: '/ready', more: options });
  return { database, mail, hook, collector, url, complaints, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
}

async function prepare({ query, urlAs }: RestartableDatabase, clients: number): Promise<void> {
  const env = {
    PGREFLECT_DATABASE_URL: urlAs('postgres'),
    PGREFLECT_LOGIN_PASSWORD: 'test',
    PGREFLECT_AUTH_ROLE_PASSWORD: 'test',
  };
  const { code, out, err } = await runProcess(['init', '--auth', '--live', '--schemas', 'public'], { env });
  if (code !== 0) throw new Error(`The database could not be prepared:\n${out}${err}`);
  // Tables that come after `init` are recorded, too.
  await query(changingTable);
  await query(readFileSync(new URL('soak.sql', import.meta.url), 'utf8'));
  await query(readFileSync(new URL('../storm/ledger.sql', import.meta.url), 'utf8'));
  await query("insert into public.counter select format('client %s', n), 0 from generate_series(0, $1::int - 1) as n", [
    clients,
  ]);
}
