/**
 * Serves the pages of one pattern: `node serve.ts DIRECTORY`. They are plain files and want no server of their own; beside them
 * come the client library (`/supabase.js`) and where the API is (`/settings.js`), which a bundler would put into a page.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { apiUrl, port, required } from './settings.ts';

const anonKey = required('ANON_KEY');
const directory = join(import.meta.dirname, process.argv[2] ?? '');
const mediaTypes: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

const files = new Map<string, string>();
for (const name of readdirSync(directory).filter((file) => extname(file) in mediaTypes))
  files.set(name === 'index.html' ? '/' : `/${name}`, readFileSync(join(directory, name), 'utf8'));
const library = 'node_modules/@supabase/supabase-js/dist/umd/supabase.js';
files.set('/supabase.js', readFileSync(join(import.meta.dirname, library), 'utf8'));
files.set('/settings.js', `const settings = ${JSON.stringify({ apiUrl, anonKey })};\n`);

const headers = {
  // The URL of a page that an email leads to holds a token: it is not cached, and no other site gets it.
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  // No script but ours, and no other site around our buttons.
  'content-security-policy': `default-src 'self'; connect-src ${apiUrl}; frame-ancestors 'none'; base-uri 'none'`,
  'x-content-type-options': 'nosniff',
};

const server = createServer((request, response) => {
  const pathname = URL.parse(request.url ?? '', 'http://pages')?.pathname ?? '';
  const text = files.get(pathname);
  const status = text === undefined ? 404 : 200;
  const mediaType = mediaTypes[extname(pathname)] ?? 'text/html';
  response.writeHead(status, { ...headers, 'content-type': `${mediaType}; charset=utf-8` });
  response.end(text ?? 'There is no such page.');
});

server.listen(port, 'localhost', () => {
  console.log(`http://localhost:${(server.address() as AddressInfo).port}`);
});
