/**
 * Calls the management API of a running project for commands. A local project's token is sent only to that project: to
 * the loopback address that its process has published, never to a redirect.
 */
import { layerAuthConfig } from '../../config/auth/auth-config.ts';
import type { LoadedOptions } from '../../config/load-options.ts';
import { type ChangeNote, type ChangeProblem, noteOnChange } from '../../management/change-note.ts';
import { ManagementError } from '../../management/management-error.ts';
import { validateChanges } from '../../management/validate-changes.ts';
import type { ConfigVersion } from '../../management/version-history.ts';
import { openFetch } from '../../shared/egress/egress.ts';
import { CommandError, failCommand } from '../shared/command.ts';
import { findRunningProject, isLocalUrl, projectDirectory } from '../shared/local-project.ts';
import { inFiles } from './templates-files.ts';

/** The configuration of one project. */
export interface ManagementClient {
  readonly ref: string;
  /** @throws CommandError with the API's message. */
  readConfig(): Promise<ReadConfig>;
  /** The versions of the configuration, newest first. @throws CommandError */
  listVersions(): Promise<readonly ConfigVersion[]>;
  /**
   * @param read The configuration that the changes are based on: if it changed since, nothing is stored.
   * @param options.allowWarnings Also stores emails whose links lead nowhere.
   * @param options.dryRun Checks the changes as the API does, and sends nothing.
   * @returns Warnings of the API.
   * @throws CommandError with every problem of the changes.
   */
  changeConfig(read: ReadConfig, changes: Config, options: ChangeOptions): Promise<readonly ChangeNote[]>;
}

interface ChangeOptions {
  readonly allowWarnings: boolean;
  readonly dryRun: boolean;
}

type Config = Readonly<Record<string, unknown>>;

/** The configuration and its version. */
export interface ReadConfig {
  readonly config: Config;
  /** Its version; null if the answer has none. */
  readonly etag: string | null;
}

/** Longest wait for an answer, in milliseconds. */
const answerTimeoutMs = 30_000;

/**
 * Makes the client. Missing options come from the local project of the working directory, if any. That directory may be
 * an untrusted checkout: a token from elsewhere is never sent to an address that it names.
 *
 * @throws CommandError if ref or token are missing, or the token was not given for the address.
 */
export function createManagementClient(
  { values, origins }: LoadedOptions<'externalUrl' | 'projectRef' | 'accessToken'>,
  workingDirectory: string,
): ManagementClient {
  const running = findRunningProject(projectDirectory(workingDirectory));
  const given = values.externalUrl ?? running?.url ?? 'http://localhost:54321';
  const local = running !== null && isSameLoopback(given, running.url) ? running : null;
  const url = local?.url ?? given;
  const ref = values.projectRef ?? local?.ref;
  const token = values.accessToken ?? local?.accessToken;
  if (ref === undefined)
    failCommand('No project ref is given.', 'Set --project-ref. The gateway prints its ref at start.');
  if (token === undefined)
    failCommand(
      'No access token is given.',
      'Set --access-token or PGREFLECT_ACCESS_TOKEN. To create a token: pgreflect tokens create. A running local project needs none.',
    );
  const isFound = (name: 'externalUrl' | 'accessToken') => /\.toml: /.test(origins.get(name) ?? '');
  if (local === null && isFound('externalUrl') && !isFound('accessToken')) {
    failCommand(
      `The access token was not given for ${new URL(url).origin}, which only ${origins.get('externalUrl')} names.`,
      'If it belongs there, give the address with --external-url or PGREFLECT_EXTERNAL_URL.',
    );
  }
  const address = `${url}/v1/projects/${encodeURIComponent(ref)}/config/auth`;
  const headers = { authorization: `Bearer ${token}` };
  return {
    ref,
    async readConfig() {
      const { body, etag } = await call(address, { headers });
      return { config: body as Config, etag };
    },
    async listVersions() {
      return (await call(`${address}/versions`, { headers })).body as readonly ConfigVersion[];
    },
    async changeConfig({ config, etag }, changes, { allowWarnings, dryRun }) {
      if (dryRun) return checkChanges(config, changes, allowWarnings);
      const { body } = await call(allowWarnings ? address : `${address}?allow_warnings=false`, {
        method: 'PATCH',
        headers: {
          ...headers,
          ...(etag !== null && { 'if-match': etag }),
          'content-type': 'application/json',
          prefer: 'return=representation; warnings',
        },
        body: JSON.stringify(changes),
      });
      return ((body as Config).warnings ?? []) as readonly ChangeNote[];
    },
  };
}

/** Whether two addresses are the same port of this machine, under any of its names. */
function isSameLoopback(a: string, b: string): boolean {
  const [first, second] = [new URL(a), new URL(b)];
  return isLocalUrl(first) && isLocalUrl(second) && first.port === second.port && first.pathname === second.pathname;
}

interface ManagementReply {
  readonly body: unknown;
  readonly etag: string | null;
}

async function call(address: string, request: RequestInit): Promise<ManagementReply> {
  const options = { ...request, signal: AbortSignal.timeout(answerTimeoutMs) };
  const response = await openFetch(address, options).catch((error: NodeJS.ErrnoException) => {
    const code = error.code ?? error.message;
    const problem = `The gateway at ${new URL(address).origin} is not responding (${code}).`;
    throw new CommandError([{ problem, fix: 'Start it, or set its address with --external-url.' }], error);
  });
  const body = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  // Compressing proxies turn it into a weak one.
  const etag = response.headers.get('etag')?.replace(/^W\//, '') ?? null;
  if (response.status === 200 && body !== null) return { body, etag };
  const isRedirect = response.status >= 300 && response.status < 400;
  const fix = isRedirect ? 'Set --external-url to the address it redirects to.' : (fixes[response.status] ?? null);
  const message = typeof body?.message === 'string' ? body.message : `status ${response.status}`;
  throw refusal(message, (body?.problems ?? null) as readonly ChangeProblem[] | null, fix);
}

/** Checked here, because an API that does not know dry runs would store the changes. */
function checkChanges(config: Config, changes: Config, allowWarnings: boolean): readonly ChangeNote[] {
  const start = layerAuthConfig({});
  const current = { config: { ...start, ...config }, start, presented: config };
  const context = { ...current, ignoreUnknown: false, allowWarnings };
  try {
    const { warnings, consequences } = validateChanges(changes, context);
    return [...warnings, ...consequences];
  } catch (error) {
    throw error instanceof ManagementError ? refusal(error.message, error.problems) : error;
  }
}

/** @param problems Those that the message joins; null: it is the only one. */
function refusal(message: string, problems: readonly ChangeProblem[] | null, fix: string | null = null): CommandError {
  const all = problems ?? [{ ...noteOnChange(message), allow_warnings: false }];
  return new CommandError(
    all.map((problem) => ({
      problem: `The management API refused: ${inFiles(problem)}`,
      fix: problem.allow_warnings ? 'To store it all the same: --allow-warnings' : fix,
    })),
  );
}

const fixes: Readonly<Record<number, string>> = {
  401: 'Check --access-token. To create a token: pgreflect tokens create',
  403: 'The token lacks a scope, or belongs to another project: pgreflect tokens list',
  404: 'Check --project-ref and --external-url.',
  412: 'Push again, which looks at what has changed.',
};
