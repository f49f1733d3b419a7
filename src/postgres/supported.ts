/**
 * The major versions of PostgreSQL that are supported. The check at start, the texts, CI and the test matrix follow this list
 * (test/house/packages.test.ts).
 */

/** Oldest first, without gaps. */
export const supportedVersions = [14, 15, 16, 17, 18] as const;

/** For texts: `14-18`. */
export const supportedRange = `${supportedVersions[0]}-${supportedVersions.at(-1)}`;
