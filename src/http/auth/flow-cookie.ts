/**
 * The cookie that ties a sign-in at a provider to the browser that started it. A callback from another browser is
 * refused, so an attacker cannot make a victim finish a sign-in that the attacker started.
 */
import { createHash } from 'node:crypto';
import { sameText } from '../../shared/same-text.ts';

/** Lifetime of a sign-in. */
const lifetimeSeconds = 300;

/** The sign-in of a cookie. */
interface FlowCookie {
  readonly state: string;
  /** Public address of the service. Only with `https:` can the cookie be limited to this host. */
  readonly authUrl: string;
}

/** One cookie per sign-in: a browser may have several pending. */
function nameOf({ state, authUrl }: FlowCookie): string {
  const prefix = authUrl.startsWith('https:') ? '__Host-' : '';
  return `${prefix}pgreflect-flow-${digestOf(state).slice(0, 16)}`;
}

function digestOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url');
}

/** The header `Set-Cookie`. @param isCrossSite The callback is a form post from the provider's page, not a redirect. */
export function setFlowCookie(flow: FlowCookie, isCrossSite: boolean): string {
  const isSecure = flow.authUrl.startsWith('https:');
  const sameSite = isCrossSite && isSecure ? 'None' : 'Lax';
  const attributes = `Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
  return `${nameOf(flow)}=${digestOf(flow.state)}; ${attributes}`;
}

/** The header `Set-Cookie` that deletes the cookie. */
export function clearFlowCookie(flow: FlowCookie): string {
  const secure = flow.authUrl.startsWith('https:') ? '; Secure' : '';
  return `${nameOf(flow)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure}`;
}

/** Whether the browser has the cookie. @param header The header `Cookie`. */
export function hasFlowCookie(flow: FlowCookie, header: string | undefined): boolean {
  const name = nameOf(flow);
  return (header ?? '').split(';').some((pair) => {
    const [own = '', value = ''] = pair.trim().split('=');
    return own === name && sameText(value, digestOf(flow.state));
  });
}
