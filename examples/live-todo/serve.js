/** Serves the page: plain files, and beside them what a bundler would put into it, the client library and where the API is. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { API_URL: apiUrl = 'http://localhost:54321', ANON_KEY: anonKey, PORT: port = '3000' } = process.env;
if (!anonKey) throw new Error('ANON_KEY is not set. A local project prints it at its start, see README.md.');

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const files = {
  '/': ['text/html', read('index.html')],
  '/index.js': ['text/javascript', read('index.js')],
  '/graphql-ws.js': ['text/javascript', read('node_modules/graphql-ws/umd/graphql-ws.js')],
  '/settings.js': ['text/javascript', `const settings = ${JSON.stringify({ apiUrl, anonKey })};\n`],
};
const connections = `connect-src ${apiUrl} ${apiUrl.replace(/^http/, 'ws')}`;
const policy = `default-src 'self'; ${connections}; frame-ancestors 'none'; base-uri 'none'`;

const server = createServer(({ url }, response) => {
  const [mediaType, text] = files[url] ?? ['text/plain', 'There is no such page.'];
  const headers = { 'content-type': `${mediaType}; charset=utf-8`, 'content-security-policy': policy };
  response.writeHead(url in files ? 200 : 404, headers).end(text);
});
server.listen(Number(port), 'localhost', () => console.log(`http://localhost:${server.address().port}`));
