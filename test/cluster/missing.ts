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

/** What is missing, in words; empty: nothing. */
export function whatIsMissing(): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  if (process.platform !== 'linux' || !isRoot) return ['root on Linux, for network namespaces'];
  const packages = Object.entries(programs).flatMap(([path, name]) => (existsSync(path) ? [] : [name]));
  const install = packages.length > 0 ? [`Debian packages: apt-get install ${packages.join(' ')}`] : [];
  const { status } = spawnSync('ip', ['link', 'add', 'pgreflect-try', 'type', 'bridge']);
  if (status === 0) spawnSync('ip', ['link', 'delete', 'pgreflect-try']);
  return status === 0 ? install : [...install, 'the right to make network namespaces, and the program ip (iproute2)'];
}
