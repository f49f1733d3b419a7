/**
 * Errors that clients of the auth service may read: one table of codes with status and default message, and the error
 * that carries a code. Clients branch on the code.
 */

interface CodeRow {
  readonly status: number;
  /** The default message; null if each caller passes one. */
  readonly message: string | null;
}

const row = (status: number, message: string | null = null): CodeRow => ({ status, message });

/** All codes with their usual status, which a caller may override. The names are part of Supabase Auth's interface. */
export const authErrorCodes = {
  unexpected_failure: row(500, 'Unexpected failure, please check server logs for more information'),
  validation_failed: row(400),
  bad_json: row(400),
  request_entity_too_large: row(413, 'Request body too large (max 1048576 bytes)'),
  request_timeout: row(504, 'Processing this request timed out, please retry after a moment.'),
  no_authorization: row(401, 'This endpoint requires a valid Bearer token'),
  bad_jwt: row(403),
  not_admin: row(403, 'User not allowed'),
  user_not_found: row(404, 'User not found'),
  session_not_found: row(403, 'Session from session_id claim in JWT does not exist'),
  session_expired: row(400),
  refresh_token_not_found: row(400, 'Invalid Refresh Token: Refresh Token Not Found'),
  refresh_token_already_used: row(400, 'Invalid Refresh Token: Already Used'),
  flow_state_not_found: row(404, 'invalid flow state, no valid flow state found'),
  flow_state_expired: row(422, 'invalid flow state, flow state has expired'),
  flow_state_already_used: row(400),
  bad_code_verifier: row(400, 'code challenge does not match previously saved code verifier'),
  signup_disabled: row(422, 'Signups not allowed for this instance'),
  user_banned: row(403, 'User is banned'),
  user_already_exists: row(422, 'User already registered'),
  email_exists: row(422, 'A user with this email address has already been registered'),
  phone_exists: row(422, 'A user with this phone number has already been registered'),
  email_provider_disabled: row(422, 'Email logins are disabled'),
  phone_provider_disabled: row(422, 'Phone logins are disabled'),
  anonymous_provider_disabled: row(422, 'Anonymous sign-ins are disabled'),
  invalid_credentials: row(400, 'Invalid login credentials'),
  email_not_confirmed: row(400, 'Email not confirmed'),
  phone_not_confirmed: row(400, 'Phone not confirmed'),
  otp_expired: row(403, 'Token has expired or is invalid'),
  otp_disabled: row(422, 'Signups not allowed for otp'),
  weak_password: row(422),
  same_password: row(422, 'New password should be different from the old password.'),
  reauthentication_needed: row(400, 'Password update requires reauthentication'),
  reauthentication_not_valid: row(422, 'Nonce has expired or is invalid'),
  current_password_required: row(400, 'Current password required when setting new password.'),
  current_password_invalid: row(400, 'Current password required when setting new password.'),
  insufficient_aal: row(401),
  user_sso_managed: row(422),
  manual_linking_disabled: row(404, 'Manual linking is disabled'),
  identity_already_exists: row(422, 'Identity is already linked'),
  identity_not_found: row(422, "Identity doesn't exist"),
  single_identity_not_deletable: row(422, 'User must have at least 1 identity after unlinking'),
  email_conflict_identity_not_deletable: row(422, 'Unable to unlink identity due to email conflict'),
  provider_disabled: row(400),
  oauth_provider_not_supported: row(400),
  provider_email_needs_verification: row(422),
  bad_oauth_state: row(400),
  bad_oauth_callback: row(400),
  oauth_client_state_not_found: row(422),
  oauth_client_state_expired: row(422),
  oauth_invalid_state: row(400),
  invite_not_found: row(404),
  unexpected_audience: row(403, "Token audience doesn't match request audience"),
  over_request_rate_limit: row(429, 'Request rate limit reached'),
  over_email_send_rate_limit: row(429, 'email rate limit exceeded'),
  over_sms_send_rate_limit: row(429, 'SMS rate limit exceeded'),
  sms_send_failed: row(422),
  email_address_not_authorized: row(400),
  email_address_invalid: row(400),
  mfa_factor_not_found: row(404, 'Factor not found'),
  mfa_factor_name_conflict: row(422),
  too_many_enrolled_mfa_factors: row(422, 'Maximum number of verified factors reached, unenroll to continue'),
  mfa_verified_factor_exists: row(422),
  mfa_ip_address_mismatch: row(422, 'Challenge and verify IP addresses mismatch.'),
  mfa_challenge_expired: row(422),
  mfa_verification_failed: row(422, 'Invalid TOTP code entered'),
  mfa_totp_enroll_not_enabled: row(422, 'MFA enroll is disabled for TOTP'),
  mfa_totp_verify_not_enabled: row(422, 'MFA verification is disabled for TOTP'),
  mfa_phone_enroll_not_enabled: row(422, 'MFA enroll is disabled for Phone'),
  mfa_phone_verify_not_enabled: row(422, 'MFA verification is disabled for Phone'),
  mfa_webauthn_enroll_not_enabled: row(422, 'MFA enroll is disabled for WebAuthn'),
  hook_timeout: row(422),
  hook_timeout_after_retry: row(422),
  hook_payload_over_size_limit: row(422),
  hook_payload_invalid_content_type: row(400),
  conflict: row(409, 'Too many concurrent token refresh requests on the same session or refresh token'),
  captcha_failed: row(400),
  feature_disabled: row(404),
  saml_provider_disabled: row(404, 'SAML 2.0 is disabled'),
  passkey_disabled: row(404, 'Passkeys are disabled'),
  web3_provider_disabled: row(422, 'Web3 provider is disabled'),
  unknown: row(400),
} as const satisfies Record<string, CodeRow>;

/** One of the codes above. */
export type AuthErrorCode = keyof typeof authErrorCodes;

/** Reasons for refusing a password. */
export const weakPasswordReasons = ['length', 'characters', 'pwned'] as const;

/** One of them. */
export type WeakPasswordReason = (typeof weakPasswordReasons)[number];

interface AuthErrorDetails {
  /** HTTP status where it is not the code's usual one. */
  readonly status?: number;
  readonly weakPassword?: readonly WeakPasswordReason[];
  /** For 429: whole seconds until it may work again. */
  readonly retryAfterSeconds?: number;
  /** The internal reason; logged, never shown. */
  readonly cause?: unknown;
  readonly isOutcomeUnknown?: boolean;
}

/** A refusal whose text a client may read. Callers branch on `code`. */
export class AuthError extends Error {
  override readonly name = 'AuthError';
  readonly code: AuthErrorCode;
  readonly status: number;
  /** Only with `weak_password`. */
  readonly weakPassword: readonly WeakPasswordReason[] | null;
  readonly retryAfterSeconds: number | null;
  /** The connection was lost after a change was sent. The change may or may not have been committed. */
  readonly isOutcomeUnknown: boolean;

  /** @param message The code's usual text where none is given. */
  constructor(code: AuthErrorCode, message: string | null = null, details: AuthErrorDetails = {}) {
    const usual: CodeRow = authErrorCodes[code];
    super(message ?? usual.message ?? code, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? usual.status;
    this.weakPassword = details.weakPassword ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.isOutcomeUnknown = details.isOutcomeUnknown ?? false;
  }
}

/** An error in OAuth format, always 400: for ID tokens and the callback of providers. */
export class OAuthStyleError extends Error {
  override readonly name = 'OAuthStyleError';
  /** For example `invalid request`. */
  readonly error: string;

  constructor(error: string, description: string, cause?: unknown) {
    super(description, cause === undefined ? undefined : { cause });
    this.error = error;
  }
}
