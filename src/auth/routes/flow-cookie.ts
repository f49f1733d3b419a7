/**
 * The cookie that ties a sign-in at a provider to the browser that started it. A callback from another browser is
 * refused, so an attacker cannot make a victim finish a sign-in that the attacker started.
 *
 * A second one ties the page that asks before an identity is linked to its button: another page cannot press it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { sameText } from '../../shared/same-text.ts';

const lifetimeSeconds = 300;

/** The sign-in of a cookie. */
interface FlowCookie {
  readonly state: string;
  /** Public address of the service. Only with `https:` can the cookie be limited to this host. */
  readonly authUrl: string;
}

/** One cookie per sign-in: a browser may have several pending. */
function nameOf({ state, authUrl }: FlowCookie, kind: 'flow' | 'page' = 'flow'): string {
  const prefix = isSecure({ state, authUrl }) ? '__Host-' : '';
  return `${prefix}pgreflect-${kind}-${digestOf(state).slice(0, 16)}`;
}

function digestOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url');
}

/** The header `Set-Cookie`. @param isCrossSite The callback is a form post from the provider's page, not a redirect. */
export function setFlowCookie(flow: FlowCookie, isCrossSite: boolean): string {
  const sameSite = isCrossSite && isSecure(flow) ? 'None' : 'Lax';
  return `${nameOf(flow)}=${digestOf(flow.state)}; ${attributesOf(flow, sameSite)}`;
}

function attributesOf(flow: FlowCookie, sameSite: 'None' | 'Lax' | 'Strict'): string {
  return `Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=${sameSite}${isSecure(flow) ? '; Secure' : ''}`;
}

function isSecure({ authUrl }: FlowCookie): boolean {
  return authUrl.startsWith('https:');
}

/** The secret of a page's button, and the header `Set-Cookie` with its digest. */
export function makePageCookie(flow: FlowCookie): { readonly pageSecret: string; readonly cookie: string } {
  const pageSecret = randomBytes(32).toString('base64url');
  return { pageSecret, cookie: `${nameOf(flow, 'page')}=${digestOf(pageSecret)}; ${attributesOf(flow, 'Strict')}` };
}

/** Whether the browser has the page whose button was pressed. @param header The header `Cookie`. */
export function hasPageCookie(flow: FlowCookie, pageSecret: string, header: string | undefined): boolean {
  return hasCookie(nameOf(flow, 'page'), digestOf(pageSecret), header);
}

/** The header `Set-Cookie` that deletes the cookie. */
export function clearFlowCookie(flow: FlowCookie): string {
  const secure = isSecure(flow) ? '; Secure' : '';
  return `${nameOf(flow)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure}`;
}

/** Whether the browser has the cookie. @param header The header `Cookie`. */
export function hasFlowCookie(flow: FlowCookie, header: string | undefined): boolean {
  return hasCookie(nameOf(flow), digestOf(flow.state), header);
}

function hasCookie(name: string, value: string, header: string | undefined): boolean {
  return (header ?? '').split(';').some((pair) => {
    const [own = '', given = ''] = pair.trim().split('=');
    return own === name && sameText(given, value);
  });
}
