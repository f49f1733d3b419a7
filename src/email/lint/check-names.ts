/** The names of the checks of templates, and the comments that switch them off: `check: ignore NAME`. */
import { nearestName } from '../../config/nearest-name.ts';
import type { MarkupKind } from './email-markup.ts';

/** A check of a template. */
export type CheckName = (typeof checkNames)[number];

/** All checks, in the order of the manual. */
export const checkNames = [
  'no-link', 'link-without-token', 'dead-link', 'broken-link', 'deep-link', 'relative-link', 'uneven-branches', 'comparison', 'empty-variable',
  'plain-variable', 'placeholder', 'unclosed-tag', 'unquoted-href', 'missing-alt', 'http-image', 'image-address', 'script', 'form',
  'external-style', 'word-markup', 'conditional-comment', 'unsupported', 'contrast', 'size', 'long-subject',
  'language-variables', 'unknown-language', 'switched-off', 'whole-page', 'unknown-check',
] as const satisfies readonly (MarkupKind | string)[]; // biome-ignore format: a list

interface IgnoredName {
  readonly name: string;
  readonly at: number;
}

const comment = /\{\{(?:- )?\/\*\s*check:\s*ignore\s([\w\s,-]*)\*\//g;

/** The names that the comments of a template switch off, each once. */
export function ignoredNames(source: string): readonly IgnoredName[] {
  const found = new Map<string, number>();
  for (const { 0: all, 1: list = '', index } of source.matchAll(comment)) {
    const start = index + all.length - '*/'.length - list.length;
    for (const { 0: name, index: at } of list.matchAll(/[\w-]+/g)) if (!found.has(name)) found.set(name, start + at);
  }
  return [...found].map(([name, at]) => ({ name, at }));
}

/** What is wrong with a name in a comment; null: nothing. */
export function unknownCheck(name: string): string | null {
  if ((checkNames as readonly string[]).includes(name)) return null;
  const shown = name.slice(0, 80);
  const nearest = nearestName(shown, checkNames);
  return `there is no check "${shown}"${nearest === null ? '' : ` (did you mean ${nearest}?)`}`;
}
