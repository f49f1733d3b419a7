/** Conditions of policies, as the catalog prints them. */
import type { AccessPolicy } from './access-schemas.ts';

/** Whether all of a policy is known: the API answers the beginning of long conditions. */
export function isWhole({ using, check }: AccessPolicy): boolean {
  return ![using, check].some((condition) => condition?.endsWith(' …'));
}

/** Parts of a condition. Texts and quoted names have parentheses that count for nothing. */
export const sqlTokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|[^'"()]+/g;

/** The condition without the parentheses that the catalog puts around it. */
export function bare(condition: string): string {
  let depth = 0;
  for (const { 0: token, index } of condition.matchAll(sqlTokens)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    if (depth === 0)
      return condition.startsWith('(') && index === condition.length - 1 ? condition.slice(1, -1) : condition;
  }
  return condition;
}
