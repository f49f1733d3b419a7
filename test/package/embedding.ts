/**
 * The programs of docs/embedding.md in a folder, and what they answer.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { parsePage } from '../docs/parse-page.ts';

/** Writes the programs, and the one that asks them. @param modules What stands for the names that they import. */
export function writeEmbeddingPrograms(folder: string, modules: Readonly<Record<string, string>> = {}): void {
  const page = readFileSync(join(import.meta.dirname, '../../docs/embedding.md'), 'utf8');
  for (const part of parsePage(page).parts) {
    const name = part.kind === 'code' ? part.words[0] : undefined;
    if (part.kind !== 'code' || name === undefined) continue;
    const text = part.body.replaceAll(/from '(pgreflect[^']*)'/g, (all, module) =>
      module in modules ? `from '${modules[module]}'` : all,
    );
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}\n');
  copyFileSync(join(import.meta.dirname, 'embedding-check.mjs'), join(folder, 'check.js'));
}

/** A table that anon may read, and that shows its user to users alone. */
export const embeddingSchema = `
  create table thing (id integer primary key, name text not null, owner uuid);
  insert into thing values (1, 'Tent', null), (2, 'Desk', 'c5a1b0c2-0000-4000-8000-000000000001');
  alter table thing enable row level security;
  create policy open on thing for select to anon, authenticated
    using (owner is null or owner = (current_setting('request.jwt.claims')::json ->> 'sub')::uuid);
  grant select on thing to anon, authenticated;
`;

const rows = (...names: readonly string[]) => ({
  data: { thingCollection: { edges: names.map((name) => ({ node: { name } })) } },
});

/** Expects what the programs have printed. */
export function expectEmbeddingAnswers(text: string): void {
  const ok = { status: 200, body: rows('Tent') };
  expect(JSON.parse(/^answers: (.*)$/m.exec(text)?.[1] ?? text)).toEqual({
    fastify: ok,
    fastifyAuth: { status: 200, body: expect.objectContaining({ disable_signup: false }) },
    next: ok,
    nextPage: 'text/html; charset=utf-8',
    hono: ok,
    lambda: rows('Tent'),
    yoga: ok,
    graphql: ok,
    graphqlWithoutKey: { status: 401, body: expect.objectContaining({ message: 'No API key found in request' }) },
    graphqlByGet: 200,
    graphqlTooLarge: {
      status: 413,
      body: { errors: [expect.objectContaining({ extensions: { code: 'BODY_TOO_LARGE' } })] },
    },
    execute: rows('Tent'),
    asUser: rows('Tent'),
    ready: null,
    auth: 200,
    authSignUp: { status: 200, body: expect.objectContaining({ email: 'ann@mail.test', aud: 'authenticated' }) },
    authElsewhere: {
      status: 404,
      body: { errors: [expect.objectContaining({ message: 'The auth service is below "/auth/v1".' })] },
    },
    authReady: null,
    types: true,
    unknownRole: null,
    html: '<a href="#ZgotmplZ">&lt;b&gt;Tent&lt;/b&gt;</a>',
    fastifyVersion: '5',
  });
}
