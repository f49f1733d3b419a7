/** Commands that create access tokens. Without an end they would be valid for ever. */
import type { operatorTokenCommand } from '../../../management/tokens/access-tokens.ts';

const scopes = 'auth_config:read,auth_config:write,project:read,project:operate';

/** For all pages. The server's text, which its type checks. */
export const tokenCommand: typeof operatorTokenCommand = `pgreflect tokens create --scope ${scopes} --expires 12h`;

/** That may run SQL, too. @param expires As the command takes it; null: never. */
export function sqlTokenCommand(expires: string | null): `pgreflect ${string}` {
  const end = expires === null ? '' : ` --expires ${expires}`;
  return `pgreflect tokens create --scope ${scopes},database:write --name studio${end}`;
}
