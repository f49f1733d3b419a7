import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { findings } from '../commands/check-findings.ts';
import { createDatabase } from '../support/postgres.ts';

const shop = join(import.meta.dirname, '../../examples/shop');
const file = (name: string) => readFileSync(join(shop, name), 'utf8');

const database = await createDatabase(file('schema.sql'), file('data.sql'));

/** The rows of one statement as a role with claims, the way a request sees them: one implicit transaction. */
function rowsAs(role: string, claims: object, select: string): Promise<unknown[]> {
  const settings = `set_config('request.jwt.claims', '${JSON.stringify(claims)}', true), set_config('role', '${role}', true)`;
  return database.query(`select ${settings}; ${select}`);
}

test('the example has data for every table, a few thousand rows in all', async () => {
  const tables = await database.query<{ name: string; rows: number }>(
    `select c.relname as name, (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I', c.relname), false, true, '')))[1]::text::int as rows
     from pg_catalog.pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition`,
  );
  expect(tables).toHaveLength(14);
  expect(tables.filter(({ rows }) => rows === 0)).toEqual([]);
  expect(tables.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThan(5000);
});

test('the data is the same on every machine and every PostgreSQL', async () => {
  const [product] = await database.query('select name, price, stock, tags from product where id = 3');
  expect(product).toEqual({
    name: 'Plain Glass Bag',
    price: '65.91',
    stock: 144,
    tags: ['glass', 'plain', 'gift', 'sale'],
  });
  const [sums] = await database.query(
    'select (select sum(line_total) from order_line)::text as sold, (select sum(rating) from review)::int as stars',
  );
  expect(sums).toMatchInlineSnapshot(`
    {
      "sold": "513588.03",
      "stars": 4261,
    }
  `);
});

test('a visitor sees active products and published posts only', async () => {
  expect(await rowsAs('anon', { role: 'anon' }, 'select distinct status from product')).toEqual([{ status: 'active' }]);
  expect(await rowsAs('anon', { role: 'anon' }, 'select distinct status from post')).toEqual([{ status: 'published' }]);
  const hidden = 'select 1 from product_rating r where not exists (select from product p where p.id = r.product_id)';
  expect(await rowsAs('anon', { role: 'anon' }, hidden)).toEqual([]);
});

test('a visitor may not read customers and orders at all', async () => {
  await expect(rowsAs('anon', { role: 'anon' }, 'select id from shop_order')).rejects.toThrow('permission denied');
  await expect(rowsAs('anon', { role: 'anon' }, 'select id from customer')).rejects.toThrow('permission denied');
});

test('a customer sees the own orders and nobody else', async () => {
  const claims = { sub: '00000000-0000-4000-8000-000000000001', role: 'authenticated' };
  expect(await rowsAs('authenticated', claims, 'select id from customer')).toEqual([{ id: '1' }]);
  expect(await rowsAs('authenticated', claims, 'select distinct customer_id from shop_order')).toEqual([
    { customer_id: '1' },
  ]);
  expect(await rowsAs('authenticated', { role: 'authenticated' }, 'select id from shop_order')).toEqual([]);
});

test('check has notes about the example, and neither errors nor warnings', async () => {
  const found = (await findings(database, '--schemas', 'public')).filter(({ severity }) => severity !== 'note');
  expect(found.map(({ message }) => message)).toEqual([]);
});

test('each example operation is valid GraphQL and says what it shows', () => {
  const names = readdirSync(join(shop, 'queries'));
  expect(names.length).toBeGreaterThanOrEqual(8);
  for (const name of names) {
    const text = file(`queries/${name}`);
    expect(text, name).toMatch(/^# .{20,}\n/);
    expect(parse(text).definitions[0]?.kind, name).toBe('OperationDefinition');
  }
});
