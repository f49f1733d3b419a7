/**
 * The answer to a sign-up with an address that has an account: it looks like that of a new user.
 *
 * Made from nothing but the request, because whatever of the real user stayed in it would tell that there is one.
 */
import type { Metadata } from '../metadata.ts';
import { randomUuid } from '../random.ts';
import { toRfc3339 } from '../times.ts';
import type { UserJson } from '../user-json.ts';
import { type Flow, nowOf } from './flow.ts';
import type { SignUpAddress } from './sign-up.ts';

/** A user who does not exist. Clients that want to know find no identities in it. */
export function imitateNewUser(flow: Flow, address: SignUpAddress, data: Metadata): UserJson {
  const now = toRfc3339(nowOf(flow));
  return {
    id: randomUuid(flow.services.random),
    aud: flow.audience,
    role: '',
    email: address.kind === 'email' ? address.email : '',
    phone: address.kind === 'phone' ? address.phone : '',
    confirmation_sent_at: now,
    app_metadata: { provider: address.kind, providers: [address.kind] },
    user_metadata: data,
    identities: [],
    created_at: now,
    updated_at: now,
    is_anonymous: false,
  };
}
