/**
 * Pages for a browser that opened an emailed link: their headers, and the page for a link that is refused and has no
 * redirect. It has the error and the next step, instead of JSON, and nothing of the request.
 *
 * A page loads nothing from elsewhere.
 */
import type { FastifyRequest } from 'fastify';
import { escapeHtml } from '../../email/link-page/link-page.ts';
import { acceptsHtml } from '../../server/media-types.ts';
import type { AuthReply } from './auth-reply.ts';

interface PageText {
  readonly title: string;
  readonly advice: string;
}

/** The answer as a page, with its status, for clients that accept HTML. @param siteUrl Of the application. */
export function asLinkPage(request: FastifyRequest, answer: AuthReply, siteUrl: string): AuthReply {
  if (!acceptsHtml(request.headers.accept)) return answer;
  const headers = { ...answer.headers, ...htmlPageHeaders(), vary: 'Accept' };
  return { ...answer, headers, page: printPage(textOf(answer.status ?? 500), siteUrl) };
}

/** Headers of a page. @param leadsTo Where the page's form leads, by redirects. None: the page has no form. */
export function htmlPageHeaders(...leadsTo: readonly string[]): Readonly<Record<string, string>> {
  const targets = new Set(leadsTo.flatMap(formTargets));
  const forms = leadsTo.length === 0 ? "'none'" : ["'self'", ...targets].join(' ');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`;
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy,
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
  };
}

/**
 * The sources of a policy for an address: its scheme. Chromium applies the policy to every redirect of a form, so a site
 * that leads on to `www.` would be blocked, with the link used up.
 */
function formTargets(address: string): readonly string[] {
  const { protocol = '' } = URL.parse(address) ?? {};
  if (protocol === 'http:') return ['http:', 'https:'];
  return protocol === '' ? [] : [protocol];
}

function textOf(status: number): PageText {
  if (status === 429)
    return { title: 'Too many attempts', advice: 'Wait a few minutes. Then open the link in your email again.' };
  if (status >= 500)
    return {
      title: 'This link cannot be opened now',
      advice: 'Wait a moment. Then open the link in your email again.',
    };
  return {
    title: 'This link is incomplete',
    advice: 'The end of its address is missing. Open it in your email again, or copy the whole address.',
  };
}

function printPage({ title, advice }: PageText, siteUrl: string): string {
  const site = /^https?:/i.test(siteUrl) ? URL.parse(siteUrl) : null;
  const way = site === null ? '' : `\n<p><a href="${escapeHtml(site.href)}">Go to ${escapeHtml(site.host)}</a></p>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<body style="max-width: 34em; margin: 15vh auto 0; padding: 0 24px; font: 17px/1.5 system-ui, sans-serif">
<h1 style="font-size: 24px">${title}</h1>
<p>${advice}</p>${way}
</html>
`;
}
