/**
 * The page `/studio/inbox`: the list of captured emails beside one of them, as the reader would see it, as text, and as its
 * source.
 *
 * Complete without script; the script only asks for the page again and takes over what is new. An email is shown in a frame
 * without scripts and without an origin, whose links open in new tabs.
 */
import { createHash } from 'node:crypto';
import type { CapturedEmail, CapturedEmailSummary } from '../email/inbox.ts';

/** Pause between two looks for new emails, in milliseconds. */
const pollMs = 1500;

const script = `
const parts = ['list', 'count'];
async function look() {
  if (document.visibilityState === 'hidden') return;
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const ids = document.getElementById('email') ? parts : [...parts, 'shown'];
  for (const id of ids) {
    const [old, now] = [document.getElementById(id), fresh.getElementById(id)];
    if (old && now && old.innerHTML !== now.innerHTML) old.replaceWith(document.adoptNode(now));
  }
}
setInterval(() => look().catch(() => {}), ${pollMs});
`;

const style = `
:root { color-scheme: light dark; }
body { margin: 0; font: 15px/1.45 system-ui, sans-serif; }
header { padding: 12px 16px; border-bottom: 1px solid #8884; }
header h1 { display: inline; font-size: 17px; margin: 0 8px 0 0; }
.columns { display: flex; flex-wrap: wrap; }
nav { flex: 1 1 260px; max-height: 90vh; overflow: auto; }
@media (max-width: 780px) { nav { max-height: 35vh; } }
nav ol { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 10px 16px; border-bottom: 1px solid #8883; color: inherit; text-decoration: none; }
nav a[aria-current] { background: #8883; }
nav small, dt { opacity: .75; }
main { flex: 3 1 480px; padding: 0 16px 16px; min-width: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; }
dd { margin: 0; overflow-wrap: anywhere; }
iframe { width: 100%; height: 60vh; border: 1px solid #8886; background: #fff; color-scheme: light; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: 12px; }
`;

function digest(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * What the page may do: its own script, its own address. Styles may be written anywhere and images come from anywhere,
 * because the frame with the email has to live under the same rules.
 */
export const inboxContentSecurityPolicy =
  `default-src 'none'; script-src ${digest(script)}; style-src 'unsafe-inline'; img-src https: http: data:; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The page as HTML.
 *
 * @param emails Newest first.
 * @param shown The one that is open; null where there is none.
 */
export function renderInboxPage(emails: readonly CapturedEmailSummary[], shown: CapturedEmail | null): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Inbox - pgreflect</title>
<style>${style}</style>
</head>
<body>
<header><h1>Inbox</h1><span id="count">${emails.length === 1 ? '1 email' : `${emails.length} emails`}</span>.
What this project has no server for is kept here instead of being sent. <a href="/studio/inbox.json">JSON</a></header>
<div class="columns">
<nav aria-label="Emails"><ol id="list">${emails.map((email) => renderEntry(email, shown?.id ?? null)).join('')}</ol></nav>
<main id="shown">${shown === null ? renderNothing(emails.length) : renderEmail(shown)}</main>
</div>
<script>${script}</script>
</body>
</html>
`;
}

function renderEntry(email: CapturedEmailSummary, shownId: number | null): string {
  const current = email.id === shownId ? ' aria-current="true"' : '';
  const { id, subject, to, kind } = email;
  return `
<li><a href="/studio/inbox?id=${id}"${current}><strong>${escapeText(subject)}</strong><br>
<small>${escapeText(to)} · ${escapeText(kind)} · ${renderTime(email)}</small></a></li>`;
}

function renderNothing(count: number): string {
  return count === 0
    ? '<p>No email yet. It appears here by itself as soon as one is sent.</p>'
    : '<p>This email is not there any more. Choose another one.</p>';
}

function renderEmail(email: CapturedEmail): string {
  const { subject, from, to, kind, html, text, source } = email;
  return `<article id="email">
<h2>${escapeText(subject)}</h2>
<dl><dt>From</dt><dd>${escapeText(from)}</dd><dt>To</dt><dd>${escapeText(to)}</dd>
<dt>Time</dt><dd>${renderTime(email)}</dd><dt>Kind</dt><dd>${escapeText(kind)}</dd></dl>
${html === '' ? '' : renderFrame(html)}<h3>As text</h3>
<pre id="text">${escapeText(text)}</pre>
<details><summary>HTML</summary><pre id="html">${escapeText(html)}</pre></details>
<details><summary>Source, as it would be sent</summary><pre id="source">${escapeText(source)}</pre></details>
</article>`;
}

function renderFrame(html: string): string {
  return `<iframe title="The email" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="${escapeText(withLinksOutside(html))}"></iframe>
`;
}

/** Links of the email open in a tab of their own; the frame could not show where they lead. */
function withLinksOutside(html: string): string {
  const base = '<base target="_blank">';
  const head = /<head(\s[^>]*)?>/i.exec(html);
  if (head !== null) return html.slice(0, head.index + head[0].length) + base + html.slice(head.index + head[0].length);
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0] ?? '';
  return doctype + base + html.slice(doctype.length);
}

function renderTime({ capturedAt }: CapturedEmailSummary): string {
  return `<time datetime="${capturedAt}">${capturedAt.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
