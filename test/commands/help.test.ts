import { expect, test } from 'vitest';
import { sources } from '../support/bundle-programs.ts';
import { runCommand, runProcess } from './run-command.ts';

test('without a command the help lists all commands and the exit code is 1', async () => {
  const { code, err } = await runProcess([]);
  expect(code).toBe(1);
  for (const name of ['start', 'serve', 'init', 'keys', 'schema', 'check', 'explain'])
    expect(err).toContain(`  ${name} `);
});

test('--version prints the version', async () => {
  const { code, out } = await runProcess(['--version']);
  expect(code).toBe(0);
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each(['--help', 'keys', 'check --help'])(
  '%s loads neither the HTTP server nor the GraphQL engine',
  async (args) => {
    const tellLoaded = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tellLoaded)}` };
    const { code, err } = await runProcess(args.split(' '), { env, program: sources.main });
    expect(code).toBe(0);
    expect(err).toContain('/node_modules/commander/');
    expect(err).not.toMatch(/\/node_modules\/(graphql|fastify)\//);
  },
);

test.each(['start', 'serve', 'init', 'keys', 'schema', 'check', 'explain'])(
  '%s has help with environment names',
  async (name) => {
    const { code, out } = await runCommand([name, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: pgreflect ${name}`);
    expect(out).toContain('PGREFLECT_ANON_ROLE');
    expect(out).toContain('(default: anon;');
  },
);

test('the help of a command describes its own use of an option', async () => {
  const [ofTokens, ofInit] = [await runCommand(['tokens', '--help']), await runCommand(['init', '--help'])];
  expect(ofTokens.out).toMatch(
    /--admin-database-url <URL> +Connection string of the auth role, auth_admin by default\. \(/,
  );
  expect(ofInit.out).toMatch(/--admin-database-url <URL> +Connection string of a role that can create roles\. \(/);
});

test('a mistyped command names the nearest one', async () => {
  const { code, err } = await runCommand(['strat']);
  expect(code).toBe(1);
  expect(err).toContain('Did you mean start?');
});

test('mistyped options name the nearest ones, together with all other problems', async () => {
  const { code, err } = await runCommand(['serve', '--databse-url', 'postgresql://u:hunter2@db/shop', '--port', 'x']);
  expect(code).toBe(1);
  expect(err).toContain('There are 4 problems:');
  expect(err).toContain('no option --databse-url');
  expect(err).toContain('Did you mean --database-url?');
  expect(err).toContain('--port must be a whole number from 0 to 65535 (given: "x").');
  expect(err).toContain('No database is named.');
  expect(err).not.toContain('hunter2');
});

test('an option of another command is named as such', async () => {
  const { err } = await runCommand(['keys', '--port', '1']);
  expect(err).toContain('pgreflect keys has no option --port; it belongs to: start, serve.');
});
