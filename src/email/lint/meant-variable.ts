/**
 * Suggests the variable of an email that an unknown name stands for: a mistyped one, or what other services call it.
 */
import { type EmailKind, type EmailVariable, emailKinds } from '../../config/auth/email-kinds.ts';
import { nearestName } from '../../config/nearest-name.ts';

/** Names of other services, without case and underscores. */
const defaultNames: readonly (readonly [EmailVariable, RegExp])[] = [
  ['ConfirmationURL',
    /^(?:(?:confirm|confirmation|action|verify|verification|activation|magic|invite|invitation|reset|resetpassword|passwordreset|recovery|login|signin|button)(?:url|link)|url|link|href)$/],
  ['TokenHash', /^(?:hash|hashedtoken|tokenhashed)$/],
  ['Token', /^(?:code|otp|pin|(?:otp|verification|confirmation|login|security)code)$/],
  ['Email', /^(?:mail|(?:user|to)?(?:mail|email)(?:address)?|address|to|recipient)$/],
  ['SiteURL', /^(?:(?:site|base|app|home|web)(?:link|url|page)?|website|domain|host)$/],
  ['RedirectTo', /^(?:redirect|redirecturl|next|returnto|returnurl|callback|callbackurl)$/],
]; // biome-ignore format: a table

/** Names that stand in the metadata of the user. */
const ofUsers = /^(?:user|first|last|full|display|given|family|nick)?name$|^(?:user)?metadata$/;

/** The variable as a template has it, with its dot; null if none is near. */
export function meantVariable(name: string, email: EmailKind): string | null {
  const { variables } = emailKinds[email];
  const nearest = nearestName(name, variables);
  if (nearest !== null) return `.${nearest}`;
  const plain = name.toLowerCase().replaceAll('_', '');
  if (ofUsers.test(plain)) return plain.endsWith('metadata') ? '.Data' : '.Data.name';
  const [usual] = defaultNames.find(([, names]) => names.test(plain)) ?? [];
  return usual !== undefined && (variables as readonly string[]).includes(usual) ? `.${usual}` : null;
}
