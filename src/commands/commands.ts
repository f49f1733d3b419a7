/**
 * All commands, in the order in which `--help` lists them.
 */
import { check } from './check.ts';
import type { Command } from './command.ts';
import { explain } from './explain.ts';
import { init } from './init.ts';
import { keys } from './keys.ts';
import { schema } from './schema.ts';
import { serve } from './serve.ts';
import { start } from './start.ts';
import { templates } from './templates.ts';
import { tokens } from './tokens.ts';

/** One entry for each command of `pgreflect`. */
export const commands: readonly Command[] = [start, serve, init, keys, tokens, schema, check, templates, explain];
