/**
 * The cookie that ties a sign-in at a provider to the browser that began it: an answer of a provider that comes from another
 * browser is refused, so nobody can have somebody else finish what they began.
 */
import { createHash } from 'node:crypto';
import { sameText } from '../../auth/secrets/one-time-code.ts';

/** As long as a sign-in may take. */
const lifetimeSeconds = 300;

/** What the cookie is made for. */
export interface FlowCookie {
  readonly state: string;
  /** Public address of the service; only with `https:` can the cookie be one of this host alone. */
  readonly authUrl: string;
}

/** Each sign-in has one of its own: a browser may have several under way. */
function nameOf({ state, authUrl }: FlowCookie): string {
  const prefix = authUrl.startsWith('https:') ? '__Host-' : '';
  return `${prefix}pgreflect-flow-${digestOf(state).slice(0, 16)}`;
}

function digestOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url');
}

/** The header `Set-Cookie`. @param isCrossSite The answer comes as a form of the provider's page, not by a redirect. */
export function setFlowCookie(flow: FlowCookie, isCrossSite: boolean): string {
  const isSecure = flow.authUrl.startsWith('https:');
  const sameSite = isCrossSite && isSecure ? 'None' : 'Lax';
  const attributes = `Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
  return `${nameOf(flow)}=${digestOf(flow.state)}; ${attributes}`;
}

/** The header `Set-Cookie` that takes it away again. */
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
