/** The supported major versions of PostgreSQL: check at start, texts, CI and test matrix follow this list. */

/** Oldest first, without gaps. */
export const supportedVersions = [14, 15, 16, 17, 18] as const;

/** For texts: `14-18`. */
export const supportedRange = `${supportedVersions[0]}-${supportedVersions.at(-1)}`;
