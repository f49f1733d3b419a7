/** Checks the layout and the partials by themselves. What emails make of them is checked with each email. */
import { randomBytes } from 'node:crypto';
import type { Partials } from '../../config/auth/auth-template-fields.ts';
import { contentName } from '../engine/compose.ts';
import { parseTemplate, renderTemplate, type TemplateOptions } from '../engine/template.ts';
import { TemplateError } from '../engine/template-error.ts';
import { unseenBehind } from '../markup/hiding-elements.ts';
import { parseOptions, type TemplateSwitches } from '../message/parse-options.ts';
import { describeFault } from './describe-fault.ts';
import { findingOnWhole, type TemplateFinding } from './finding.ts';
import { sampleData } from './template-samples.ts';
import { maxTryMs } from './try-template.ts';

/** What is wrong with a layout or a partial. */
interface SurroundingFault {
  readonly field: 'mailer_layout_content' | 'mailer_partials';
  /** Empty for the layout. */
  readonly place: { readonly partial?: string };
  readonly finding: TemplateFinding;
}

/** What is wrong with the layout and the partials in force. @param isSpent Ends the checks (startCheckTime). */
export function checkSurroundings(switches: TemplateSwitches, isSpent: () => boolean): readonly SurroundingFault[] {
  const { mailer_layout_content: layout, mailer_partials: partials } = switches;
  const ofPartials = Object.entries(partials ?? {}).flatMap(([name, text]) => {
    if (isSpent()) return [];
    // Its place of use decides how it escapes, so alone it is only read.
    const problem = faultOf(text, () =>
      parseTemplate(text, { kind: 'text', partials: partials as Partials, maxMs: maxTryMs }),
    );
    return problem === null ? [] : [{ field: 'mailer_partials' as const, place: { partial: name }, finding: problem }];
  });
  const problem = layout && !isSpent() ? checkLayout(layout, switches) : null;
  const ofLayout = { field: 'mailer_layout_content', place: {} } as const;
  return [...ofPartials, ...(problem === null ? [] : [{ ...ofLayout, finding: problem }])];
}

/** Null for none. */
function checkLayout(layout: string, switches: TemplateSwitches): TemplateFinding | null {
  const options = { ...parseOptions('content', switches), maxMs: maxTryMs };
  const partials = { ...options.partials, [contentName]: '' };
  return (
    faultOf(layout, () => parseTemplate(layout, { ...options, layout: null, partials })) ??
    faultOf('', () => parseTemplate('', { ...options, layout })) ??
    unseenContent(layout, options)
  );
}

/** Tries it around a mark. */
function unseenContent(layout: string, options: TemplateOptions): TemplateFinding | null {
  const mark = `content-${randomBytes(16).toString('hex')}`;
  try {
    const template = parseTemplate(mark, { ...options, layout });
    const html = renderTemplate(template, sampleData('recovery')[0] ?? {}, { maxMs: maxTryMs, onWrongValue: () => {} });
    const [before = ''] = html.split(mark);
    // In a comment, which is left out, it is not there at all.
    const problem = unseenBehind(before === html ? '<!--' : before, `{{ template "${contentName}" . }}`);
    return problem === null ? null : findingOnWhole(`the layout ${problem}`);
  } catch (error) {
    // Emails in force are tried with it, too.
    if (error instanceof TemplateError) return null;
    throw error;
  }
}

function faultOf(source: string, parse: () => unknown): TemplateFinding | null {
  try {
    parse();
    return null;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return describeFault(error, source, null);
  }
}
