/** What a cluster needs of its machine, and what of it is not there. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Programs and the Debian packages that have them. */
const programs: Readonly<Record<string, string>> = {
  '/usr/bin/patroni': 'patroni',
  '/usr/bin/etcd': 'etcd-server',
  '/usr/sbin/haproxy': 'haproxy',
  '/usr/sbin/pgbouncer': 'pgbouncer',
  '/usr/lib/postgresql/15/bin/postgres': 'postgresql-15',
};

/** Ends the process where a cluster cannot run here, and says why. @param isOptional Whether that is no failure. */
export function demandCluster(isOptional: boolean): void {
  const missing = whatIsMissing();
  if (missing.length === 0) return;
  console.log(`A cluster cannot run here. Missing: ${missing.join('; ')}.`);
  process.exit(isOptional ? 0 : 1);
}

/** In words; empty: nothing. */
function whatIsMissing(): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  if (process.platform !== 'linux' || !isRoot) return ['root on Linux, for network namespaces'];
  const packages = Object.entries(programs).flatMap(([path, name]) => (existsSync(path) ? [] : [name]));
  const install = packages.length > 0 ? [`Debian packages: apt-get install ${packages.join(' ')}`] : [];
  const { status } = spawnSync('ip', ['link', 'add', 'pgreflect-try', 'type', 'bridge']);
  if (status === 0) spawnSync('ip', ['link', 'delete', 'pgreflect-try']);
  return status === 0 ? install : [...install, 'the right to make network namespaces, and the program ip (iproute2)'];
}
