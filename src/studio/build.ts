/**
 * Builds the studio into dist/studio, unless what is there was made of the same sources: `node src/studio/build.ts`.
 *
 * Run before everything that serves the studio from a checkout, so a finished build costs a few milliseconds. The new files
 * are moved into place when they are complete, because several of us may build at the same time.
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
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

const root = join(import.meta.dirname, '../..');
const sources = join(root, 'src/studio');
const target = join(root, 'dist/studio');
/** What packages ask of whoever passes them on. */
const licensesName = 'licenses.md';
/** What the files were made of, beside them. */
const stampName = '.made-of';

/** Builds where something has changed. @returns Whether it had. */
async function buildStudio(): Promise<boolean> {
  const stamp = digestOfSources();
  if (readOrNull(join(target, stampName)) === stamp) return false;
  mkdirSync(join(root, 'dist'), { recursive: true });
  const fresh = mkdtempSync(join(root, 'dist/.studio-'));
  try {
    await bundle(fresh);
    addFontLicense(join(fresh, licensesName));
    compressFiles(fresh);
    writeFileSync(join(fresh, stampName), stamp);
    // A temporary directory is its maker's alone; the gateway may run as somebody else.
    chmodSync(fresh, 0o755);
    replaceDirectory(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return true;
}

/** Every source, and the versions of every package. */
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
  // What a test runner says here would make a slow build for development of it.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  await build({
    root: sources,
    configFile: false,
    logLevel: 'error',
    // Each page names its files below its own path, so that it works where nothing else of the gateway can be reached.
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
      // Fonts that few pages need would be part of every style sheet.
      assetsInlineLimit: 0,
      license: { fileName: licensesName },
      modulePreload: { polyfill: false },
    },
    worker: { format: 'es' },
    plugins: [{ name: 'graphiql-without-fonts', enforce: 'pre', transform: withoutFonts }],
  });
}

/** The fonts that are written into the style sheet of GraphiQL are larger than everything else of it. */
function withoutFonts(code: string, id: string): string | null {
  return id.endsWith('/graphiql/dist/style.css') ? code.replace(/@font-face\s*\{[^}]*\}/g, '') : null;
}

/** Vite lists the packages of scripts alone. */
function addFontLicense(path: string): void {
  const license = readFileSync(join(root, 'node_modules/@fontsource/fira-code/LICENSE'), 'utf8');
  appendFileSync(path, `\n## @fontsource/fira-code (OFL-1.1)\n\n${license}`);
}

/** Beside each file, for the gateway to send. */
function compressFiles(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}

/** A directory cannot be replaced in one step; whoever reads in between finds no file, and the next look finds it. */
function replaceDirectory(fresh: string): void {
  const old = `${fresh}-old`;
  if (existsSync(target)) renameSync(target, old);
  try {
    renameSync(fresh, target);
  } catch (error) {
    // Another build was faster, and made the same.
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

const started = performance.now();
try {
  // Not to standard output, which belongs to whoever builds: `npm pack --json` prints its result there.
  if (await buildStudio()) console.error(`The studio was built in ${Math.round(performance.now() - started)} ms.`);
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  // Everything else works without it.
  console.warn('The studio was not built because Vite is not installed. Run npm ci --include=dev.');
}
