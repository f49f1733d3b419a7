/**
 * The page for a browser if an emailed link is refused and has no redirect: the error and the next step, instead of
 * JSON.
 *
 * The page loads nothing, and contains nothing of the request.
 */
import type { FastifyRequest } from 'fastify';
import { acceptsHtml } from '../server/media-types.ts';
import type { AuthReply } from './auth-reply.ts';

interface PageText {
  readonly title: string;
  readonly advice: string;
}

/** The answer as a page, with its status, for clients that accept HTML. @param siteUrl Of the application. */
export function asLinkPage(request: FastifyRequest, answer: AuthReply, siteUrl: string): AuthReply {
  if (!acceptsHtml(request.headers.accept)) return answer;
  const headers = {
    ...answer.headers,
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    vary: 'Accept',
  };
  return { ...answer, headers, page: printPage(textOf(answer.status ?? 500), siteUrl) };
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
