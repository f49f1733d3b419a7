/** Which claims and headers an expression reads, as PostgreSQL prints it and as people write it. */
import { describe, expect, test } from 'vitest';
import { type PassingRoutines, readsOf } from '../../../src/check/claim-reads.ts';

const passing: PassingRoutines = new Map([
  ['jwt', { source: 'claims', passes: 'all' }],
  ['claim', { source: 'claims', passes: 'named' }],
]);
const claims = (text: string) => [...readsOf(text, 'claims', passing).names];

describe('claims that an expression reads', () => {
  test.each([
    [`(tenant = ((current_setting('request.jwt.claims'::text, true))::json ->> 'tenant'::text))`, ['tenant']],
    [`current_setting('request.jwt.claims', true)::jsonb->'app_metadata'->>'org'`, ['app_metadata']],
    [`((NULLIF(current_setting('request.jwt.claims'::text, true), ''::text))::jsonb ->> 'sub'::text)`, ['sub']],
    [`(org = (( SELECT (auth.jwt() ->> 'org'::text)))::uuid)`, ['org']],
    [`(org = (( SELECT auth.jwt() AS jwt) ->> 'org'::text))`, ['org']],
    [`((auth.jwt() #>> '{app_metadata,org}'::text[]) = 'a')`, ['app_metadata']],
    [`(auth.jwt() #>> ARRAY['app_metadata'::text, 'org'::text])`, ['app_metadata']],
    [`(auth.jwt())['org']`, ['org']],
    [`(auth.jwt() ? 'admin'::text)`, ['admin']],
    [`(auth.jwt() @> '{"aal": "aal2"}'::jsonb)`, ['aal']],
    [`jsonb_extract_path_text(auth.jwt(), VARIADIC ARRAY['org'::text])`, ['org']],
    [`COALESCE(auth.jwt(), '{}'::jsonb) ->> 'org'`, ['org']],
    [`(org = claim('org'::text))`, ['org']],
    [`"auth"."jwt"() ->> 'it''s'`, [`it's`]],
    [`begin return query with c as (select auth.jwt() as held) select held ->> 'org' from c; end`, ['org']],
    [`declare held jsonb := auth.jwt(); begin return held->>'org' = held->>'tenant'; end`, ['org', 'tenant']],
    [`begin select auth.jwt() into held; return (held)::jsonb ->> 'org'; end`, ['org']],
    [`-- auth.jwt() ->> 'old'\nselect auth.jwt() /* ->> 'older' */ ->> 'org'`, ['org']],
  ])('%s', (text, names) => expect(claims(text)).toEqual(names));

  test.each([
    `(settings ->> 'org'::text)`,
    `(auth.jwt() IS NOT NULL)`,
    `current_setting('request.headers', true)::json ->> 'org'`,
    `current_setting('app.claims', true)::json ->> 'org'`,
    `'auth.jwt() is here' <> (settings ->> 'org')`,
    `my_jwt() ->> 'org'`,
    `current_setting('request.jwt.claim.org', true)`,
  ])('%s: none', (text) => expect(claims(text)).toEqual([]));
});

test('request headers that an expression reads', () => {
  const text = `current_setting('request.headers', true)::json->>'x-tenant' = tenant`;
  expect([...readsOf(text, 'headers', new Map()).names]).toEqual(['x-tenant']);
  expect([...readsOf(text, 'claims', new Map()).names]).toEqual([]);
});

test.each([
  [`select current_setting('request.jwt.claims', true)::jsonb`, 'all'],
  [`select current_setting('request.jwt.claims', true)::jsonb ->> name`, 'named'],
  [`select current_setting('request.jwt.claims', true)::jsonb ->> $1`, 'named'],
  [`select current_setting('request.jwt.claims', true)::jsonb ->> 'sub'`, null],
])('what a routine hands on of the claims: %s', (text, passes) => {
  expect(readsOf(text, 'claims', passing).passes).toBe(passes);
});
