/** Access tokens at the admin API of the auth service: whose it is, whether it may, how often. */
import { AuthError, type AuthErrorCode } from '../auth/model/auth-error.ts';
import type { FindOperator } from '../auth/routes/auth-parts.ts';
import { accessTokenPrefix } from '../shared/bearer-token.ts';
import { sameText } from '../shared/same-text.ts';
import { authorizeCaller } from './authorize.ts';
import { countRequest } from './count-request.ts';
import { demand } from './management-caller.ts';
import { ManagementError, type ManagementErrorCode } from './management-error.ts';
import type { ManagementParts } from './routes/management-parts.ts';

/** Makes the check. It takes tokens with the scope `project:operate`. */
export function createOperatorCheck(
  parts: Pick<ManagementParts, 'project' | 'perMinute' | 'takeRequest'>,
): FindOperator {
  const { project } = parts;
  return async (token, from) => {
    const fixed = project.accessToken();
    if (!token.startsWith(accessTokenPrefix) && (fixed === null || !sameText(token, fixed))) return null;
    try {
      const caller = await authorizeCaller(project, await project.ref(), { token, from });
      demand(caller, 'project:operate');
      await countRequest(parts, caller, 'user request');
      return caller;
    } catch (error) {
      throw error instanceof ManagementError ? asAuthError(error) : error;
    }
  };
}

const refusals: Partial<Record<ManagementErrorCode, readonly [AuthErrorCode, message: string]>> = {
  unauthorized: ['no_authorization', 'The access token is unknown, was revoked or has expired.'],
  forbidden: ['not_admin', 'The access token lacks the scope "project:operate", or is for another project.'],
};

function asAuthError(error: ManagementError): AuthError {
  const { code, message, retryAfterSeconds } = error;
  if (retryAfterSeconds !== null) return new AuthError('over_request_rate_limit', message, { retryAfterSeconds });
  const [refusal, words] = refusals[code] ?? ['feature_disabled', message];
  return new AuthError(refusal, words, { cause: error });
}
