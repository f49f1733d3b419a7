import { expect, test, vi } from 'vitest';
import { followOptions } from '../../../src/cli/serve/follow-options.ts';
import type { Config } from '../../../src/config/config.ts';
import { DatabaseError } from '../../../src/postgres/database-error.ts';

const config = { schemas: ['public'], authValues: {}, authTemplates: {} } as unknown as Config;
const changeOptions = async () => ({ applied: [], warnings: [] });
const sources = {
  flags: new Map(),
  authFlags: new Map(),
  configFile: '/nowhere/pgreflect.toml',
  environment: {},
  workingDirectory: '/nowhere',
  problems: [],
};

test('what changed together is taken over together, also while the database is away', async () => {
  const away = new DatabaseError({ kind: 'unavailable', primary: 'The database cannot be reached.' });
  const next = { ...config, schemas: ['shop'], authValues: { site_url: 'https://shop.example' } } as unknown as Config;
  const expose = vi.fn(() => Promise.reject(away));
  const configureAuth = vi.fn(async () => {});
  const notes: string[] = [];
  const options = followOptions({
    gateway: { expose, configureAuth, changeOptions },
    config,
    sources,
    load: () => next,
    note: (text) => void notes.push(text),
  });
  await vi.waitFor(() => expect(notes).toHaveLength(2));
  options.stop();
  expect(configureAuth).toHaveBeenCalledWith(expect.objectContaining({ authValues: next.authValues }));
  expect(expose.mock.calls).toEqual([[['shop']]]);
  expect(notes).toEqual([
    'Reloaded the start values of the auth configuration.',
    'Exposed schemas are now: shop. They are read when the database responds.',
  ]);
});

test('what has changed since the options were first read is taken over at once', async () => {
  const next = { ...config, schemas: ['shop'] } as unknown as Config;
  const expose = vi.fn(async () => {});
  const notes: string[] = [];
  const gateway = { expose, configureAuth: async () => {}, changeOptions };
  const options = followOptions({ gateway, config, sources, load: () => next, note: (text) => void notes.push(text) });
  await vi.waitFor(() => expect(notes).toEqual(['Exposed schemas are now: shop.']));
  options.stop();
  expect(expose.mock.calls).toEqual([[['shop']]]);
});

test('changed options that need a restart are named once, the others are taken over', async () => {
  const before = { ...config, port: 1, limits: { maxBodyBytes: 1 } } as unknown as Config;
  const next = { ...before, port: 2, limits: { maxBodyBytes: 2 }, schemas: ['shop'] } as unknown as Config;
  const expose = vi.fn(async () => {});
  const notes: string[] = [];
  const gateway = { expose, configureAuth: async () => {}, changeOptions };
  const note = (text: string) => void notes.push(text);
  const options = followOptions({ gateway, config: before, sources, load: () => next, note });
  await vi.waitFor(() => expect(notes).toHaveLength(2));
  options.readAgain();
  options.readAgain();
  options.stop();
  await new Promise(setImmediate);
  const nothing = 'The configuration was read again: nothing to change.';
  expect(notes.slice(0, 2)).toEqual([
    'Warning: A restart is needed for: max_body_bytes, port.',
    'Exposed schemas are now: shop.',
  ]);
  expect(notes.slice(2)).toEqual([nothing, nothing]);
  expect(expose.mock.calls).toEqual([[['shop']]]);
});

test('an option that is again as at the start needs no restart', async () => {
  const before = { ...config, port: 1 } as unknown as Config;
  let next = { ...before, port: 2 } as Config;
  const notes: string[] = [];
  const gateway = { expose: async () => {}, configureAuth: async () => {}, changeOptions };
  const note = (text: string) => void notes.push(text);
  const options = followOptions({ gateway, config: before, sources, load: () => next, note });
  await vi.waitFor(() => expect(notes).toEqual(['Warning: A restart is needed for: port.']));
  next = before;
  options.readAgain();
  await vi.waitFor(() => expect(notes.slice(1)).toEqual(['The configuration was read again: nothing to change.']));
  options.stop();
});
