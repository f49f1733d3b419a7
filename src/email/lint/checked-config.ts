/** The configuration that checks of templates depend on. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { TemplateSwitches } from '../message/parse-options.ts';

/** What changes the meaning of templates, and the redirects that their links get. */
export type CheckedConfig = TemplateSwitches & Pick<AuthConfig, 'uri_allow_list'>;
