/** Addresses of the page Settings: `settings/emails?group=dkim-signature`. */

/** @param section Path of the section. */
export function groupAddress(section: string, title: string): string {
  return `settings/${section}?group=${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
}

/** The address of the dialog that creates an access token. */
export const newTokenPath = 'settings/access-tokens/new';
