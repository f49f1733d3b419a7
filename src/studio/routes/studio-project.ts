/**
 * What `GET /studio/project` answers, for the server and for the pages.
 */

/** The project as its token holder may see it. */
export interface StudioProject {
  readonly ref: string;
  /** A project of `pgreflect start`. */
  readonly isLocal: boolean;
  /**
   * Scopes of the token: `auth_config:write` may change the configuration; `project:operate` may see plans and act as a
   * user or as the service role.
   */
  readonly scopes: readonly string[];
  /** Null: not provided. `service` is empty unless the project is local. */
  readonly keys: { readonly anon: string; readonly service: string } | null;
  readonly roles: { readonly anon: string; readonly authenticated: string; readonly service: string };
  readonly isEmailCaptured: boolean;
  readonly exampleOperations: readonly string[];
}
