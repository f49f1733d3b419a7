/** Reads what a process that serves has written with `--log-format json`. */
import { expect } from 'vitest';
import { version } from '../../src/shared/version.ts';

/** A line of the log. */
export type Line = Readonly<Record<string, unknown>>;

/** The lines of a text, each of which has to be one of a log. */
export function linesOf(text: string): readonly Line[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const parsed = JSON.parse(line) as Line;
    expect(parsed).toMatchObject({ service: 'pgreflect', version, host: expect.any(String), pid: expect.any(Number) });
    // A key that is there twice is lost in most readers.
    expect(Object.keys(parsed)).toHaveLength(line.match(/(?<=[{,])"[A-Za-z_]+":/g)?.length ?? 0);
    return parsed;
  });
}

/** Level and message of each. */
export const messagesOf = (lines: readonly Line[]) => lines.map(({ level, msg }) => `${level} ${msg}`);
