/**
 * What is wrong with a template, for whoever wrote it: Go's own words, and behind them what is most likely missing.
 */
import { nearestName } from '../../config/nearest-name.ts';
import { type EmailKind, emailKinds } from '../../email/email-kind.ts';
import type { TemplateError } from '../../email/template/template-error.ts';

/** One sentence without the place. @param email Whose template it is; null: that of a text message. */
export function describeFault(error: TemplateError, email: EmailKind | null): string {
  const hint = hintOf(error, email);
  return hint === null ? error.message : `${error.message} (${hint})`;
}

function hintOf({ code, message, unclosed }: TemplateError, email: EmailKind | null): string | null {
  if (unclosed !== null) {
    const missing = code === 'syntax' ? 'has no {{ end }}' : 'is never closed: look for a missing quote, > or end tag';
    return `\`${unclosed.text}\` of line ${unclosed.line} ${missing}`;
  }
  const usual = usualMistakes.find(([words]) => words.test(message));
  if (usual !== undefined) return usual[1];
  const [, name] = (code === 'unknown_function' && /^function "(.*)" not defined$/s.exec(message)) || [];
  const meant = name === undefined || email === null ? null : nearestName(name, emailKinds[email].variables);
  return meant === null ? null : `did you mean .${meant}?`;
}

/** Go's words for what people usually mistype, and what to write. */
const usualMistakes: readonly (readonly [RegExp, string])[] = [
  [/^unexpected "[{}]" in |^bad character U\+007D /, 'write an action with two braces on each side: {{ .Name }}'],
  [/ U\+20(?:18|19|1A|1C|1D|1E) /, 'write straight quotes: "de"'],
  [/ U\+00A0 /, 'it is a no-break space: write a normal one'],
  [/^(?:malformed|unterminated) character constant/, 'write text in double quotes: "de"'],
  [/^function "(?:endif|endwith|endfor|endrange|endblock|fi)" not defined$/, 'write {{ end }}'],
  [/^function "(?:elseif|elsif|elif)" not defined$/, 'write {{ else if … }}'],
  [/^function "(?:for|foreach|each)" not defined$/, 'write {{ range … }}'],
  [/^unexpected "=" in operand$/, 'compare with eq: {{ if eq .Name "de" }}'],
  [/^unexpected "[#/]" in command$/, 'write {{ if … }} and {{ end }}'],
];
