/**
 * Prints the keys of a project that `pgreflect start` made, for a shell: `eval "$(npm run --silent keys -- DIRECTORY)"`, where
 * DIRECTORY is the one that `start` ran in. Signs in the example's first customer for a day, as an authentication service
 * would; a program that holds the secret may do so, a browser never holds it.
 */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Project {
  readonly anonKey: string;
  readonly jwtSecret: string;
}

const file = join(process.argv[2] ?? '.', '.pgreflect', 'project.json');
const project = JSON.parse(readFileSync(file, 'utf8')) as Project;

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const claims = {
  sub: '00000000-0000-4000-8000-000000000001',
  role: 'authenticated',
  exp: Math.floor(Date.now() / 1000) + 24 * 60 * 60,
};
const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
const signature = createHmac('sha256', project.jwtSecret).update(content).digest('base64url');

console.log(`export ANON_KEY=${project.anonKey}`);
console.log(`export ACCESS_TOKEN=${content}.${signature}`);
