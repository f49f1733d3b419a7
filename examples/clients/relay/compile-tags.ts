/**
 * What a bundler does for a Relay application, for Node: `node --import ./relay/compile-tags.ts` replaces the graphql tags
 * of this folder by what relay-compiler wrote, with Relay's own plugin for Babel. Node removes the types.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@babel/core';

const folder = new URL('.', import.meta.url).href;

registerHooks({
  // Relay leaves the endings of its files to the bundler.
  resolve: (specifier, context, next) => next(specifier.replace(/\.graphql$/, '.graphql.ts'), context),
  load(url, context, next) {
    if (!url.startsWith(folder) || url.endsWith('.graphql.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const compiled = transformSync(readFileSync(filename, 'utf8'), {
      filename,
      configFile: false,
      parserOpts: { plugins: ['typescript'] },
      plugins: [['relay', { eagerEsModules: true }]],
    });
    return { format: 'module-typescript', source: compiled?.code ?? '', shortCircuit: true };
  },
});
