/**
 * Emailed links: opened at once, or shown as a page whose button uses them, because mail scanners open links as well.
 *
 * The page is made of the link and the configuration alone. It does not look the token up, so opening a link does
 * not tell whether it is still valid.
 */
import { TemplateError } from '../../email/engine/template-error.ts';
import {
  chooseLinkPage,
  type LinkPage,
  LinkPageFault,
  renderBuiltIn,
  renderConfigured,
} from '../../email/link-page/link-page.ts';
import type { LinkAction } from '../../email/link-page/link-page-texts.ts';
import { readStamped } from '../../email/message/shown-address.ts';
import type { AuthAttempt } from '../../shared/observation.ts';
import { about, oneOf, optional } from '../../shared/schema.ts';
import { assertComplete, openLink } from '../requests/verify.ts';
import { findVerificationType, type VerificationType, verificationTypes } from '../steps/verification-types.ts';
import type { AuthReply } from './auth-reply.ts';
import { type AddressLimit, type AuthRequest, noteRefusal } from './auth-request.ts';
import { redirectQuery } from './auth-route-table.ts';
import { htmlPageHeaders } from './refused-link-page.ts';

const parameters = { token: 'Hash of the link.', redirect_to: redirectQuery.redirect_to };

/** Fields of the page's form. */
export const linkForm = { ...parameters, type: 'What it is for.' } as const;

/** What `GET` and `HEAD` share. A HEAD request uses up no link. */
export const openedLink = {
  access: 'anyone',
  opensFromEmail: true,
  query: {
    ...parameters,
    type: optional(about(oneOf(...verificationTypes), 'What it is for.')),
    address: 'The recipient, for the page.',
  },
  answer: null,
  run: runLink,
} as const;

/** Answers of `GET` alone. */
export const openedAnswers = {
  page: 'The page that asks first, if mailer_link_confirmation is page.',
  redirects: [303],
} as const;

/** Counts what verifies, and no page. */
export function limitOpened(limit: (request: AuthRequest) => AddressLimit) {
  return (request: AuthRequest): AddressLimit | null => (asksFirst(request) ? null : limit(request));
}

/** The use of a link or code, by what it is for. */
export function verification(type: string | null | undefined): AuthAttempt {
  return { action: 'verify', method: findVerificationType(type ?? '') ?? 'unknown' };
}

/** A link that is used at once. */
export function opened(request: AuthRequest): AuthAttempt | null {
  return asksFirst(request) ? null : verification(request.query.get('type'));
}

function asksFirst({ context }: AuthRequest): boolean {
  return context.config.mailer_link_confirmation === 'page';
}

async function runLink(request: AuthRequest): Promise<AuthReply> {
  const { query, context, isHead } = request;
  const link = { token: query.get('token') || query.get('token_hash'), type: query.get('type') };
  if (asksFirst(request)) return showPage(request, assertComplete(link));
  // As for other paths: a HEAD request must not use up a link.
  if (isHead) return { status: 405, headers: { allow: 'GET, POST, OPTIONS' }, errorCode: 'unknown' };
  return useLink(request, link, context.redirectTo);
}

/** The button: does what opening the link would have done. */
export async function submitLinkForm(request: AuthRequest): Promise<AuthReply> {
  const form = request.form();
  const redirectTo = request.redirects.resolve({ query: form.get('redirect_to') ?? undefined });
  return useLink(request, { token: form.get('token'), type: form.get('type') }, redirectTo);
}

async function useLink(
  request: AuthRequest,
  link: Parameters<typeof openLink>[1],
  redirectTo: string,
): Promise<AuthReply> {
  const { location, refusal } = await openLink({ ...request.context, redirectTo }, link);
  const errorCode = refusal === null ? null : noteRefusal(refusal, request);
  // The URL that the browser leaves contains a token, and the next one perhaps a session.
  const headers = { location, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };
  return { status: 303, headers, errorCode };
}

const actions: Readonly<Record<VerificationType, LinkAction>> = {
  signup: 'confirmation',
  email: 'confirmation',
  invite: 'invite',
  magiclink: 'magic_link',
  recovery: 'recovery',
  email_change: 'email_change',
  sms: 'other',
  phone_change: 'other',
};

function showPage(
  { query, context }: AuthRequest,
  { token, type: name }: ReturnType<typeof assertComplete>,
): AuthReply {
  const { config, services, redirectTo } = context;
  const type = findVerificationType(name);
  const page: LinkPage = {
    action: type === null ? 'other' : actions[type],
    email: readStamped(services.linkKeys(), token, query.get('address') ?? ''),
    siteUrl: config.site_url,
    locale: chooseLinkPage(config, context.languages),
    languages: context.languages,
    // The redirect as it is allowed now, which submitting the form checks again.
    fields: { token, type: name, redirect_to: redirectTo },
  };
  const observe = (problem: string) => {
    const source = 'the configuration';
    services.observe({ kind: 'template_refused', email: 'link_page', source, problem, kept: 'built-in' });
  };
  return {
    headers: htmlPageHeaders(redirectTo),
    page: renderOrBuiltIn(() => renderConfigured(config, page), page, observe),
  };
}

/** A start value may be a page that fails; people must be able to go on. */
function renderOrBuiltIn(render: () => string, page: LinkPage, observe: (problem: string) => void): string {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof TemplateError) && !(error instanceof LinkPageFault)) throw error;
    observe(error instanceof LinkPageFault ? `It ${error.message}.` : `It fails (${error.code}).`);
    return renderBuiltIn(page);
  }
}
