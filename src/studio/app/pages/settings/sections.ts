/**
 * The sections of the page: every field of the auth configuration in exactly one group, with a label in plain words.
 *
 * What a field is for is the server's text; a label only names it. A test compares with the fields of the API.
 */

/** A field on the page. */
export interface SettingsField {
  readonly name: string;
  readonly label: string;
  /** Of a number. */
  readonly unit?: string;
}

/** Fields below one heading. */
export interface SettingsGroup {
  readonly title: string;
  readonly fields: readonly SettingsField[];
  /** A card that is closed until it is needed; on as long as this field is. */
  readonly card?: { readonly enabledBy: string | null };
}

/** A section of the page. */
export interface SettingsSection {
  /** Second segment of its address. */
  readonly path: string;
  readonly title: string;
  readonly groups: readonly SettingsGroup[];
}

type Row = readonly [name: string, label: string, unit?: string];

const group = (title: string, ...rows: readonly Row[]): SettingsGroup => ({ title, fields: rows.map(toField) });

function toField([name, label, unit]: Row): SettingsField {
  return { name, label, ...(unit !== undefined && { unit }) };
}

const providerNames: Readonly<Record<string, string>> = {
  apple: 'Apple', azure: 'Microsoft', facebook: 'Facebook', github: 'GitHub', gitlab: 'GitLab', google: 'Google',
  kakao: 'Kakao', keycloak: 'Keycloak',
}; // biome-ignore format: a list of names

const providers = Object.entries(providerNames).map(([name, title]): SettingsGroup => {
  const rows: readonly Row[] = [
    ['enabled', 'Sign-in'],
    ['client_id', 'Client ID'],
    ['secret', 'Client secret'],
    ['url', 'Issuer URL'],
    ['redirect_uri', 'Redirect URI'],
    ['additional_client_ids', 'Other client IDs in ID tokens'],
    ['email_optional', 'Accounts without an email address'],
    ['skip_nonce_check', 'ID tokens without a nonce'],
  ];
  const fields = rows.map(([key, label]) => ({ name: `external_${name}_${key}`, label }));
  return { title, fields, card: { enabledBy: `external_${name}_enabled` } };
});

const hookTitles: Readonly<Record<string, string>> = {
  custom_access_token: 'Claims of access tokens',
  before_user_created: 'Before a user is created',
  send_email: 'Send emails',
  send_sms: 'Send text messages',
};

const hooks = Object.entries(hookTitles).map(([name, title]): SettingsGroup => {
  const fields = [
    { name: `hook_${name}_enabled`, label: 'Hook' },
    { name: `hook_${name}_uri`, label: 'Target' },
    { name: `hook_${name}_secrets`, label: 'Signing secrets' },
  ];
  return { title, fields, card: { enabledBy: `hook_${name}_enabled` } };
});

const notifications = [
  'password_changed', 'email_changed', 'phone_changed', 'identity_linked', 'identity_unlinked', 'mfa_factor_enrolled',
  'mfa_factor_unenrolled', 'mfa_factor_guessed',
]; // biome-ignore format: a list of names

const closed = (made: SettingsGroup): SettingsGroup => ({ ...made, card: { enabledBy: null } });

/** Fields of Supabase Auth that are stored and have no effect, at the end of their section. */
const inert = (...names: readonly string[]): SettingsGroup =>
  closed({ title: 'Without effect here', fields: names.map((name) => ({ name, label: inWords(name) })) });

const inertProviders = [
  'bitbucket', 'discord', 'figma', 'linkedin_oidc', 'notion', 'slack', 'slack_oidc', 'spotify', 'twitch', 'twitter', 'workos',
  'x', 'zoom',
]; // biome-ignore format: a list of names

/** The sections, in the order of the list. */
export const settingsSections: readonly SettingsSection[] = [
  {
    path: 'general',
    title: 'General',
    groups: [
      group('Addresses', ['site_url', 'Site URL'], ['uri_allow_list', 'Redirect URLs']),
      group(
        'Requests',
        ['api_max_request_duration', 'Longest request', 'seconds'],
        ['security_sb_forwarded_for_enabled', 'Client address from a proxy'],
        ['security_jwt_aud_header_enabled', 'Audience from a header'],
        ['audit_log_disable_postgres', 'Stop the audit log'],
      ),
      inert('db_max_pool_size', 'db_max_pool_size_unit'),
    ],
  },
  {
    path: 'sign-in',
    title: 'Sign-up and sign-in',
    groups: [
      group(
        'Accounts',
        ['disable_signup', 'Block sign-ups'],
        ['external_anonymous_users_enabled', 'Anonymous sign-in'],
        ['security_manual_linking_enabled', 'Linking of identities by users'],
      ),
      group(
        'Email',
        ['external_email_enabled', 'Email sign-in'],
        ['external_email_magic_link_enabled', 'Sign-in by an emailed link or code'],
        ['mailer_autoconfirm', 'Skip the confirmation of addresses'],
        ['mailer_allow_unverified_email_sign_ins', 'Unconfirmed addresses from providers'],
        ['mailer_secure_email_change_enabled', 'Confirm an email change twice'],
        ['security_link_keeps_password', 'Keep the password of a sign-up'],
      ),
      group(
        'Links and codes in emails',
        ['mailer_otp_exp', 'Lifetime', 'seconds'],
        ['mailer_otp_length', 'Length of codes', 'digits'],
        ['mailer_otp_attempts', 'Wrong attempts', 'per code'],
      ),
      group(
        'Phone',
        ['external_phone_enabled', 'Phone sign-in'],
        ['sms_autoconfirm', 'Skip the confirmation of numbers'],
      ),
      inert(
        'passkey_enabled', 'webauthn_rp_display_name', 'webauthn_rp_id', 'webauthn_rp_origins',
        'external_web3_ethereum_enabled', 'external_web3_solana_enabled',
      ), // biome-ignore format: a list of names
    ],
  },
  {
    path: 'providers',
    title: 'Providers',
    groups: [
      ...providers,
      closed(group('Other issuers of ID tokens', ['external_allowed_id_token_issuers', 'Issuers and client IDs'])),
      inert(
        ...inertProviders.flatMap((name) =>
          ['enabled', 'client_id', 'secret', 'email_optional'].map((key) => `external_${name}_${key}`),
        ),
        'external_workos_url', 'custom_oauth_enabled', 'custom_oauth_max_providers', 'nimbus_oauth_client_id',
        'nimbus_oauth_client_secret', 'nimbus_oauth_email_optional', 'oauth_server_enabled',
        'oauth_server_allow_dynamic_registration', 'oauth_server_authorization_path', 'saml_enabled',
        'saml_external_url', 'saml_allow_encrypted_assertions',
      ), // biome-ignore format: a list of names
    ],
  },
  {
    path: 'emails',
    title: 'Emails',
    groups: [
      group(
        'Sender',
        ['smtp_admin_email', 'From address'],
        ['smtp_sender_name', 'From name'],
        ['mailer_reply_to', 'Reply address'],
      ),
      group(
        'Mail server or service',
        ['mailer_transport', 'Transport'],
        ['smtp_host', 'Server'],
        ['smtp_port', 'Port'],
        ['smtp_user', 'User name'],
        ['smtp_pass', 'Password'],
        ['mailer_api_key', 'API key of the service'],
        ['mailer_api_url', 'API address of the service'],
        ['smtp_headers', 'Headers'],
      ),
      group(
        'Sending',
        ['mailer_delivery', 'Delivery'],
        ['smtp_max_frequency', 'Pause between emails to a user', 'seconds'],
        ['external_email_authorized_addresses', 'Only to these addresses'],
      ),
      group(
        'Look',
        ['mailer_brand_name', 'Name'],
        ['mailer_brand_logo_url', 'Logo'],
        ['mailer_brand_color', 'Color'],
        ['mailer_brand_footer', 'Footer'],
        ['mailer_compatible', 'As Supabase Auth sends them'],
        ['mailer_keep_locale', "Keep the reader's language"],
      ),
      group(
        'Notifications',
        ...notifications.map((name): Row => [`mailer_notifications_${name}_enabled`, sentence(name)]),
        ['mailer_notifications_admin_changes_enabled', 'Changes by administrators'],
      ),
      closed(
        group(
          'Bounces and deliveries',
          ['mailer_events_service', 'Service that reports bounces'],
          ['mailer_events_secret', 'Proof of its reports'],
          ['mailer_suppress_bounced', 'Pause addresses that bounced'],
          ['mailer_deliveries_recipients', 'Addresses on the page Deliveries'],
          ['mailer_deliveries_retention_days', 'Keep deliveries', 'days'],
        ),
      ),
      closed(
        group(
          'DKIM signature',
          ['mailer_dkim_domain', 'Domain'],
          ['mailer_dkim_selector', 'Selector'],
          ['mailer_dkim_private_key', 'Private key'],
        ),
      ),
      closed(
        group(
          'Links in emails',
          ['mailer_external_hosts', 'Hosts'],
          ['mailer_urlpaths_confirmation', 'Path of confirmations'],
          ['mailer_urlpaths_invite', 'Path of invitations'],
          ['mailer_urlpaths_recovery', 'Path of recovery and magic links'],
          ['mailer_urlpaths_email_change', 'Path of email changes'],
          ['mailer_confirmation_link_type', 'Type in confirmation links'],
          ['mailer_extra_url_schemes', 'Other schemes'],
        ),
      ),
      closed(
        group(
          'Template engine',
          ['mailer_subject_html_escape', 'Escape values in subjects'],
          ['mailer_keep_conditional_comments', 'Keep comments for Outlook'],
          ['mailer_template_lenient_compare', 'Lenient comparisons'],
        ),
      ),
    ],
  },
  {
    path: 'sms',
    title: 'SMS',
    groups: [
      group('Provider', ['sms_provider', 'Provider'], ['sms_provider_url', 'API address']),
      group(
        'Messages',
        ['sms_template', 'Text'],
        ['sms_otp_exp', 'Lifetime of codes', 'seconds'],
        ['sms_otp_length', 'Length of codes', 'digits'],
        ['sms_max_frequency', 'Pause between messages to a user', 'seconds'],
      ),
      closed(
        group(
          'Twilio',
          ['sms_twilio_account_sid', 'Account SID'],
          ['sms_twilio_auth_token', 'Auth token'],
          ['sms_twilio_message_service_sid', 'Sender'],
          ['sms_twilio_content_sid', 'WhatsApp content'],
        ),
      ),
      closed(
        group('MessageBird', ['sms_messagebird_access_key', 'Access key'], ['sms_messagebird_originator', 'Sender']),
      ),
      closed(group('Textlocal', ['sms_textlocal_api_key', 'API key'], ['sms_textlocal_sender', 'Sender'])),
      closed(
        group(
          'Vonage',
          ['sms_vonage_api_key', 'API key'],
          ['sms_vonage_api_secret', 'API secret'],
          ['sms_vonage_from', 'Sender'],
        ),
      ),
      closed(group('Webhook', ['sms_webhook_url', 'Address'], ['sms_webhook_secrets', 'Signing secrets'])),
      closed(
        group('Test numbers', ['sms_test_otp', 'Numbers and codes'], ['sms_test_otp_valid_until', 'Accepted until']),
      ),
      inert('sms_twilio_verify_account_sid', 'sms_twilio_verify_auth_token', 'sms_twilio_verify_message_service_sid'),
    ],
  },
  {
    path: 'security',
    title: 'Security',
    groups: [
      group(
        'Passwords',
        ['password_min_length', 'Shortest password', 'bytes'],
        ['password_required_characters', 'Required characters'],
        ['password_hibp_enabled', 'Refuse leaked passwords'],
        ['security_update_password_require_current_password', 'Ask for the current password'],
        ['security_update_password_require_reauthentication', 'Recent sign-in for a new password'],
      ),
      group(
        'Sessions',
        ['jwt_exp', 'Lifetime of access tokens', 'seconds'],
        ['sessions_timebox', 'Longest session', 'hours'],
        ['sessions_inactivity_timeout', 'End idle sessions after', 'hours'],
        ['sessions_single_per_user', 'One session per user'],
        ['sessions_tags', 'Groups of sessions'],
        ['sessions_allow_low_aal', 'Time without the second factor', 'hours'],
        ['refresh_token_rotation_enabled', 'Detect reused refresh tokens'],
        ['security_refresh_token_reuse_interval', 'Grace period for reuse', 'seconds'],
      ),
      group(
        'Second factors',
        ['mfa_max_enrolled_factors', 'Most factors', 'per user'],
        ['mfa_totp_enroll_enabled', 'Add authenticator apps'],
        ['mfa_totp_verify_enabled', 'Codes from authenticator apps'],
        ['mfa_phone_enroll_enabled', 'Add phones'],
        ['mfa_phone_verify_enabled', 'Codes to phones'],
        ['mfa_phone_otp_length', 'Length of codes to phones', 'digits'],
        ['mfa_phone_max_frequency', 'Pause between codes to a phone', 'seconds'],
        ['mfa_phone_template', 'Text to phones'],
      ),
      group(
        'Captcha',
        ['security_captcha_enabled', 'Captcha'],
        ['security_captcha_provider', 'Service'],
        ['security_captcha_secret', 'Secret key'],
        ['security_captcha_url', 'Address'],
      ),
      group(
        'Links and accounts',
        ['mailer_link_confirmation', 'Before a link is used'],
        ['security_hide_accounts', 'Hide accounts from strangers'],
      ),
      inert('mfa_web_authn_enroll_enabled', 'mfa_web_authn_verify_enabled'),
    ],
  },
  {
    path: 'limits',
    title: 'Rate limits',
    groups: [
      group(
        'Messages',
        ['rate_limit_email_sent', 'Emails', 'per hour'],
        ['rate_limit_email_recipient', 'Emails to one address', 'per hour'],
        ['rate_limit_sms_sent', 'Text messages', 'per hour'],
      ),
      group(
        'Requests of one client address',
        ['rate_limit_otp', 'Sign-ups and email requests', 'per 5 minutes'],
        ['rate_limit_verify', 'Verifications', 'per 5 minutes'],
        ['rate_limit_token_refresh', 'Token requests', 'per 5 minutes'],
        ['rate_limit_anonymous_users', 'Anonymous sign-ins', 'per hour'],
        ['mfa_rate_limit_challenge_and_verify', 'Second factors', 'per minute'],
      ),
      inert('rate_limit_web3'),
    ],
  },
  {
    path: 'hooks',
    title: 'Hooks',
    groups: [
      ...hooks,
      inert(
        ...['after_user_created', 'mfa_verification_attempt', 'password_verification_attempt'].flatMap((name) =>
          ['enabled', 'uri', 'secrets'].map((key) => `hook_${name}_${key}`),
        ),
      ),
    ],
  },
];

/** `email_changed` as `Email changed`. */
function sentence(name: string): string {
  const words = name.replaceAll('_', ' ').replace('mfa factor', 'second factor');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The name of a field without effect, in words. */
function inWords(name: string): string {
  return sentence(name.replace(/^external_|^hook_|_enabled$/g, ''));
}

/** Where a field is. */
export interface FieldPlace {
  readonly section: SettingsSection;
  readonly group: SettingsGroup;
  readonly field: SettingsField;
}

/** The place of each field by its name. */
export const fieldPlaces: ReadonlyMap<string, FieldPlace> = new Map(
  settingsSections.flatMap((section) =>
    section.groups.flatMap((each) =>
      each.fields.map((field): [string, FieldPlace] => [field.name, { section, group: each, field }]),
    ),
  ),
);
