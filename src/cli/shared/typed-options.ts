/** Command lines to print, with the options that were typed: another line would be about another database. */
import { withoutPassword } from '../../config/connection-url.ts';
import { flagName, optionNames, optionOf } from '../../config/options.ts';
import { quoteForShell } from '../../shared/quote-for-shell.ts';
import type { CommandContext, ListedCommand } from './command.ts';

/** `pgreflect check --schemas 'a,b'`. Passwords are replaced, other secrets left out. @param program As a shell calls it. */
export function commandLine(name: ListedCommand['name'], { sources }: CommandContext, program = 'pgreflect'): string {
  const { flags, configFile } = sources;
  const typed = optionNames.flatMap((option) => {
    const { commands, secret } = optionOf(option);
    const texts = commands.includes(name) ? (flags.get(option) ?? []) : [];
    if (secret && !option.endsWith('Url')) return [];
    return texts.map((text) => `--${flagName(option)} ${quoteForShell(secret ? withoutPassword(text) : text)}`);
  });
  const config = configFile === null ? [] : [`--config ${quoteForShell(configFile)}`];
  return [program, name, ...config, ...typed].join(' ');
}
