/**
 * Builds the studio into dist/studio-app, unless it was built from the same sources: `node src/studio/app/build.ts`.
 *
 * Runs before everything that serves the studio from a checkout; an up-to-date build costs a few milliseconds. New
 * files are moved into place when complete, because several builds may run at once.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = join(import.meta.dirname, '../../..');
const sources = join(root, 'src/studio/app');
const target = join(root, 'dist/studio-app');
/** The licenses that must accompany the packages' code. */
const licensesName = 'licenses.md';
/** The digest of the sources, beside the files. */
const stampName = '.made-of';

/** Builds if a source changed. @returns Whether it did. */
async function buildStudio(): Promise<boolean> {
  const stamp = digestOfSources();
  if (readOrNull(join(target, stampName)) === stamp) return false;
  log('Building the studio: some seconds, and again only after a change …');
  mkdirSync(join(root, 'dist'), { recursive: true });
  const fresh = mkdtempSync(join(root, 'dist/.studio-app-'));
  try {
    await bundle(fresh);
    completeLicenses(join(fresh, licensesName));
    compressFiles(fresh);
    writeFileSync(join(fresh, stampName), stamp);
    // A temporary directory is private to its creator; the gateway may run as another user.
    chmodSync(fresh, 0o755);
    replaceDirectory(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return true;
}

/** All sources, and the versions of all packages. */
function digestOfSources(): string {
  const digest = createHash('sha256');
  const names = readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const name of [...names.sort(), join(root, 'package-lock.json')]) {
    const content = readFileSync(name);
    digest.update(`${name.slice(root.length)} ${content.length}\n`).update(content);
  }
  return digest.digest('hex');
}

async function bundle(outDir: string): Promise<void> {
  // A test runner's value would make a slow development build.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  await build({
    root: sources,
    configFile: false,
    logLevel: 'error',
    // Each page's files are below its own path, so that it works behind a proxy that forwards only that.
    experimental: {
      renderBuiltUrl: (name, { hostId, hostType }) =>
        hostType === 'html' ? `${hostId === 'graphiql.html' ? '/graphql/v1' : '/studio'}/${name}` : { relative: true },
    },
    build: {
      outDir,
      emptyOutDir: false,
      rolldownOptions: { input: ['index.html', 'graphiql.html'].map((name) => join(sources, name)) },
      target: 'es2023',
      reportCompressedSize: false,
      // Otherwise every style sheet would contain fonts that few pages need.
      assetsInlineLimit: 0,
      license: { fileName: licensesName },
      modulePreload: { polyfill: false },
    },
    worker: { format: 'es' },
    plugins: [
      { name: 'graphiql-without-fonts', enforce: 'pre', transform: withoutFonts },
      { name: 'graphiql-with-words', enforce: 'pre', transform: withWords },
      { name: 'uplot-in-any-language', enforce: 'pre', transform: inAnyLanguage },
    ],
  });
}

/** The fonts in GraphiQL's style sheet are larger than the rest of it. */
function withoutFonts(code: string, id: string): string | null {
  return id.endsWith('/graphiql/dist/style.css') ? code.replace(/@font-face\s*\{[^}]*\}/g, '') : null;
}

/** What GraphiQL calls an operation without a name is no word that people use. */
function withWords(code: string, id: string): string | null {
  return id.endsWith('/@graphiql/react/dist/editor/tabs.js') ? code.replace('"<untitled>"', '"Unnamed"') : null;
}

/** uPlot fails where the browser names a language that `Intl` does not know, such as `en-US@posix`. Without one, it takes the default. */
function inAnyLanguage(code: string, id: string): string | null {
  return id.endsWith('/uPlot.esm.js') ? code.replaceAll('nav.language', 'undefined') : null;
}

/** Some packages name a license and bring no text of it: they get the text of the MIT license. */
function completeLicenses(path: string): void {
  const sections = readFileSync(path, 'utf8').split(/^(?=## )/m);
  writeFileSync(path, sections.map((section) => (/\n\n\S/.test(section) ? section : withText(section))).join(''));
}

function withText(section: string): string {
  const [, name, license] = /^## (\S+) - \S+ \((.+)\)/.exec(section) ?? [];
  if (name === undefined || license !== 'MIT') throw new Error(`No license text for ${section.trim()}`);
  const { author, repository } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
  const holder = author?.name ?? author ?? `the contributors of ${repository?.url ?? repository ?? name}`;
  const text = readFileSync(join(root, 'LICENSE'), 'utf8').replace(/(?<=Copyright \(c\) ).*/, holder);
  return `${section.trim()}\n\n${text}\n`;
}

/** Writes them beside each file, for the gateway to send. */
function compressFiles(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}

/** A directory cannot be replaced atomically; a reader in between finds no file, and retries. */
function replaceDirectory(fresh: string): void {
  const old = `${fresh}-old`;
  if (existsSync(target)) renameSync(target, old);
  try {
    renameSync(fresh, target);
  } catch (error) {
    // Another build finished first, with the same result.
    if (!existsSync(join(target, stampName))) throw error;
  }
  rmSync(old, { recursive: true, force: true });
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Not to standard output, which belongs to the calling program: `npm pack --json` prints its result there. */
function log(line: string): void {
  console.error(line);
}

const started = performance.now();
try {
  if (await buildStudio()) log(`The studio was built in ${Math.round(performance.now() - started)} ms.`);
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  // Everything else works without it.
  console.warn('The studio was not built because Vite is not installed. Run npm ci --include=dev.');
}
