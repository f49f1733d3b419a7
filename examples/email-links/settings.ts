/** Where the API is and where a program listens: read from the environment by every program here; see README.md. */

/** Origin of the API, without a slash at its end. */
export const apiUrl = process.env.API_URL ?? 'http://localhost:54321';

/** Port of the pages; 0 takes a free one. `site_url` of the project must be their origin, and is `http://localhost:3000` at first. */
export const port = Number(process.env.PORT ?? 3000);

/** The value of a variable of the environment. @throws Error where it is not set. */
export function required(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set. A local project prints it at its start, see README.md.`);
}
