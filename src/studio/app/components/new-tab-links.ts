/** Prepares the HTML of an email for its frame. */

/** The HTML with links that open in new tabs, because the frame cannot follow them. @param more Added to its head. */
export function withNewTabLinks(html: string, more = ''): string {
  const base = `<base target="_blank">${more}`;
  const head = /<head(?=[\s>])/i.exec(html);
  const end = head === null ? 0 : html.indexOf('>', head.index) + 1;
  if (end > 0) return html.slice(0, end) + base + html.slice(end);
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0] ?? '';
  return doctype + base + html.slice(doctype.length);
}
