/**
 * The templates beside the emails, for the studio: the layout around emails, and the page that asks before an emailed
 * link is used. Drafts of both are rendered by the route of the emails.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { linkPageField, translationsField } from '../../config/auth/auth-template-fields.ts';
import { emailKindNames, emailKinds } from '../../config/auth/email-kinds.ts';
import { layoutTemplate } from '../../email/built-in/layout.ts';
import { TemplateError } from '../../email/engine/template-error.ts';
import {
  type LinkPage,
  LinkPageFault,
  linkPageVariables,
  parseLinkPage,
  renderPage,
} from '../../email/link-page/link-page.ts';
import { builtInLinkPage, type LinkAction, linkActions } from '../../email/link-page/link-page-texts.ts';
import { checkLinkPage } from '../../email/lint/check-link-page.ts';
import { findingOnWhole, type TemplateFinding } from '../../email/lint/finding.ts';
import { sampleData } from '../../email/lint/template-samples.ts';
import { maxTryMs } from '../../email/lint/try-template.ts';
import { translated } from '../../email/message/choose-texts.ts';
import { maskAddress } from '../../email/message/shown-address.ts';
import { isObject } from '../../shared/json.ts';
import type { RenderedDraft, RenderedText, SharedTemplate } from './draft-schemas.ts';
import {
  assertKnown,
  readDraft,
  readDraftText,
  readLocale,
  refuseDraft,
  renderDraft,
  type SampleSettings,
} from './email-drafts.ts';

/** All of them. @param start The values that apply if nothing is stored. */
export function describeSharedTemplates(config: AuthConfig, start: AuthConfig): readonly SharedTemplate[] {
  const page = builtInLinkPage('en');
  const { SiteURL: _, ...sample } = sampleData('recovery')[0] ?? {};
  return [
    {
      name: 'layout',
      contentField: 'mailer_layout_content',
      translationsField: null,
      variables: commonVariables(),
      defaults: { content: layoutTemplate() },
      start: { content: start.mailer_layout_content ?? '' },
      sample: { ...sample, SiteURL: config.site_url },
    },
    {
      name: 'link_page',
      contentField: linkPageField,
      translationsField: translationsField('link_page'),
      variables: linkPageVariables,
      defaults: { content: page },
      start: { content: start[linkPageField] ?? '' },
      sample: pageSample(config, 'en'),
    },
  ];
}

/** What every email has. */
function commonVariables(): readonly string[] {
  const [first = [], ...others] = emailKindNames.map((kind): readonly string[] => emailKinds[kind].variables);
  return first.filter((name) => others.every((variables) => variables.includes(name)));
}

function pageSample(config: AuthConfig, locale: string) {
  return {
    Action: 'recovery',
    SiteURL: config.site_url,
    Email: maskAddress('ada@example.com'),
    Locale: locale,
  };
}

/** Renders the draft in a request. @throws ManagementError `invalid_body`, `validation_failed` */
export function renderRequest(body: unknown, project: SampleSettings): Promise<RenderedDraft> {
  if (isObject(body) && body.email === 'link_page') return renderLinkPage(body, project);
  return renderDraft(readDraft(body, project));
}

async function renderLinkPage(
  body: Readonly<Record<string, unknown>>,
  { config }: SampleSettings,
): Promise<RenderedDraft> {
  assertKnown(body);
  const locale = readLocale(body.locale);
  const own = translated(config[translationsField('link_page')], 'content', locale) ?? config[linkPageField] ?? '';
  const builtIn = builtInLinkPage(locale || 'en');
  const source = readDraftText('content', body.content, own) || builtIn;
  const data: Readonly<Record<string, string>> = { ...pageSample(config, locale), ...readPageData(body.data ?? {}) };
  const { SiteURL: siteUrl = '', Email: email = '', Locale = '' } = data;
  const page = { action: data.Action as LinkAction, siteUrl, email, locale: Locale, languages: [], fields: {} };
  const content = renderPageText(source, page, config);
  return {
    content,
    text: null,
    textPart: null,
    subject: { output: '', fault: null, warnings: [] },
    builtIn: locale === '' ? null : { subject: '', content: builtIn },
  };
}

function readPageData(data: unknown): Readonly<Record<string, string>> {
  if (!isObject(data)) refuseDraft('data must be a JSON object');
  for (const [name, value] of Object.entries(data)) {
    if (name === 'Button' || !linkPageVariables.includes(name))
      refuseDraft(`data: the page has no variable "${name.slice(0, 80)}" to set`);
    if (typeof value !== 'string') refuseDraft(`data.${name} must be a string`);
  }
  if (data.Action !== undefined && !linkActions.includes(data.Action as LinkAction))
    refuseDraft(`data.Action must be one of ${linkActions.join(', ')}`);
  return data as Readonly<Record<string, string>>;
}

function renderPageText(source: string, page: LinkPage, config: AuthConfig): RenderedText {
  const { problem, warnings } = checkLinkPage(source, config);
  if (problem !== null) return faulty(problem);
  try {
    const output = renderPage(parseLinkPage(source, config, maxTryMs), page, maxTryMs);
    return { output, fault: null, warnings: warnings.map((warning) => ({ ...warning, refused: false })) };
  } catch (error) {
    // Only data of the request can do this: the check has rendered every action.
    if (error instanceof TemplateError || error instanceof LinkPageFault) return faulty(findingOnWhole(error.message));
    throw error;
  }
}

function faulty(finding: TemplateFinding): RenderedText {
  return { output: null, fault: { phase: 'page', code: 'link_page', ...finding, piece: null }, warnings: [] };
}
