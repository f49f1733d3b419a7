/**
 * Headless Chromium for tests, from the npm package that carries one, so that nothing else has to be installed.
 *
 * The package brings the browser compressed, together with fonts and the few shared libraries that a minimal Debian
 * lacks. They are unpacked once, into a directory of the user who runs the tests, and moved into place when complete.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import chromium, { inflate } from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as playwright } from 'playwright-core';
import { atEnd } from './when-over.ts';

const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A busy machine takes longer than the usual half of it. */
const patienceMs = 60_000;

/** One for the process: test files that share it load this file anew. */
const registry = globalThis as unknown as { testBrowser?: Promise<Browser>; keptContexts?: Set<BrowserContext> };

registry.keptContexts ??= new Set();
/** Contexts that outlive the test file: who adds one closes it, or leaves it to the end of the process. */
export const { keptContexts } = registry as { readonly keptContexts: Set<BrowserContext> };

/** The browser of this process, which ends with it. What the test file opens in it is closed after the file. */
export async function openBrowser(): Promise<Browser> {
  registry.testBrowser ??= launch();
  const browser = await registry.testBrowser;
  const closeAll = () => browser.contexts().map((context) => keptContexts.has(context) || context.close());
  atEnd(() => Promise.all(closeAll()));
  return browser;
}

async function launch(): Promise<Browser> {
  const directory = await unpackBrowser();
  const browser = await playwright.launch({
    executablePath: join(directory, 'chromium'),
    args,
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(directory, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(directory, 'fonts.conf'),
    },
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(patienceMs);
    return context;
  };
  return browser;
}

const packageDirectory = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..');

async function unpackBrowser(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')) as { version: string };
  const target = join(tmpdir(), `pgreflect-chromium-${version}-${process.getuid?.() ?? 0}`);
  if (existsSync(target)) return target;
  const fresh = await mkdtemp(`${target}-`);
  const usual = process.env.TMPDIR;
  // The package unpacks into the directory for temporary files and takes no other.
  process.env.TMPDIR = fresh;
  try {
    await chromium.executablePath();
    await inflate(join(packageDirectory, 'bin', 'al2023.tar.br'));
  } finally {
    if (usual === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = usual;
  }
  const fonts = `<fontconfig><dir>${target}/fonts</dir><cachedir>${target}/fonts-cache</cachedir></fontconfig>`;
  await writeFile(join(fresh, 'fonts.conf'), `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">${fonts}`);
  // Another run may have been faster.
  await rename(fresh, target).catch(() => rm(fresh, { recursive: true }));
  return target;
}
