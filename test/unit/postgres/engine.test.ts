import { expect, test } from 'vitest';
import { detectEngines, type EngineFacts } from '../../../src/postgres/engine.ts';

const plain: EngineFacts = {
  version: 'PostgreSQL 17.4 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 12.4.0, 64-bit',
  extensions: ['plpgsql'],
  roles: [],
  functions: [],
};

// As their documentation shows it: `version()`, `\dx`, predefined roles.
test.each<[string, Partial<EngineFacts>, string]>([
  ['CockroachDB', { version: 'CockroachDB CCL v25.4.0 (x86_64-pc-linux-gnu, built 2025/11/03 14:20:13, go1.23.12)' }, 'other'],
  ['YugabyteDB', { version: 'PostgreSQL 15.12-YB-2025.2.3.0-b1 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6' }, 'differs'],
  ['Citus', { extensions: ['plpgsql', 'citus', 'citus_columnar'] }, 'differs'],
  ['TimescaleDB', { extensions: ['plpgsql', 'timescaledb'] }, 'differs'],
  ['Amazon Aurora', { roles: ['rds_superuser'], functions: ['aurora_version'] }, 'service'],
  ['Amazon RDS', { roles: ['rds_superuser'] }, 'service'],
  ['AlloyDB', { roles: ['alloydbsuperuser'] }, 'service'],
  ['Google Cloud SQL', { roles: ['cloudsqlsuperuser'] }, 'service'],
  ['Azure Database', { roles: ['azure_pg_admin'] }, 'service'],
  ['Neon', { roles: ['neon_superuser'] }, 'service'],
  ['Supabase', { roles: ['supabase_admin'] }, 'service'],
])('%s is recognized by what its catalog shows', (name, facts, kind) => {
  expect(detectEngines({ ...plain, ...facts })).toMatchObject([{ name, kind }]);
}); // biome-ignore format: one server a line

test('a service and an extension are both recognized', () => {
  const found = detectEngines({ ...plain, roles: ['azure_pg_admin'], extensions: ['citus'] });
  expect(found.map(({ name }) => name)).toEqual(['Citus', 'Azure Database']);
});

test('plain PostgreSQL shows nothing', () => {
  expect(detectEngines(plain)).toEqual([]);
});
