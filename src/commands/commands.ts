/**
 * All commands, in the order in which `--help` lists them.
 */
import { check } from './check/check.ts';
import { explain } from './explain.ts';
import { init } from './init/init.ts';
import { keys } from './keys.ts';
import { schema } from './schema.ts';
import { serve } from './serve/serve.ts';
import type { Command } from './shared/command.ts';
import { start } from './start/start.ts';
import { status } from './start/status.ts';
import { templates } from './templates/templates.ts';
import { tokens } from './tokens.ts';

/** One entry for each command of `pgreflect`. */
export const commands: readonly Command[] = [
  start,
  status,
  serve,
  init,
  keys,
  tokens,
  schema,
  check,
  templates,
  explain,
];
