/**
 * Checks the template of the page that asks before an emailed link is used: for every kind of link, with an address and
 * without, it has to make a page whose button works.
 */
import { type Template, templateVariables } from '../engine/template.ts';
import { TemplateError } from '../engine/template-error.ts';
import { LinkPageFault, linkPageVariables, parseLinkPage, renderPage } from '../link-page/link-page.ts';
import { linkActions } from '../link-page/link-page-texts.ts';
import type { TemplateSwitches } from '../message/parse-options.ts';
import { nothing, type TemplateFindings } from './check-template.ts';
import { describeFault } from './describe-fault.ts';
import { findingAt, findingOnWhole } from './finding.ts';
import { maxTryMs } from './try-template.ts';

/** Empty text means the built-in page and is always valid. */
export function checkLinkPage(text: string, switches: TemplateSwitches): TemplateFindings {
  if (text === '') return nothing;
  try {
    const template = parseLinkPage(text, switches, maxTryMs);
    tryPages(template);
    return { ...nothing, warnings: emptyVariables(template) };
  } catch (error) {
    if (error instanceof LinkPageFault) return { ...nothing, problem: findingOnWhole(`it ${error.message}`) };
    if (!(error instanceof TemplateError)) throw error;
    return { ...nothing, problem: describeFault(error, text, null) };
  }
}

/** @throws LinkPageFault, TemplateError */
function tryPages(template: Template): void {
  const fields = { token: '', type: '', redirect_to: '' };
  const pages = linkActions.flatMap((action) => ['', 'a***@example.com'].map((email) => ({ action, email })));
  // They share the time of one trial.
  const maxMs = Math.floor(maxTryMs / pages.length);
  for (const page of pages) {
    renderPage(template, { ...page, siteUrl: 'https://app.example.com', locale: 'en', languages: [], fields }, maxMs);
  }
}

function emptyVariables(template: Template): TemplateFindings['warnings'] {
  return [...templateVariables(template)]
    .filter(([name]) => !linkPageVariables.includes(name))
    .slice(0, 20)
    .map(([name, used]) => {
      const at = template.source.indexOf(`.${name}`, used);
      const what = `.${name.slice(0, 80)} is always empty on this page`;
      return findingAt(template.source, { at, length: name.length + 1 }, what, 'empty-variable');
    });
}
