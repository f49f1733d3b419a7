/**
 * Findings of `pgreflect check` about views that a role has `select` on and cannot read: they run as their caller, or
 * call what the caller may not. One for each grant that is missing, because many views often lack the same.
 */
import pluralize from 'pluralize';
import { quoteName } from '../graphql/catalog/quote-name.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import { freeName } from './check-grants.ts';
import { type Finding, firstOf, remark } from './finding.ts';

/** A view that a role could not read, and PostgreSQL's words for it. */
export interface Denial {
  readonly role: string;
  readonly view: string;
  readonly message: string;
  /** A function wrote the words: its owner must not choose what is granted. */
  readonly isRaised: boolean;
}

/** Each with the grant that is missing, if PostgreSQL's words name one object. */
export async function describeDenials(tx: Queryable, denials: readonly Denial[]): Promise<readonly Finding[]> {
  const alike = Map.groupBy(denials, ({ role, message, isRaised }) => `${role} ${isRaised} ${message}`);
  const findings: Finding[] = [];
  for (const ofObject of alike.values()) {
    const { role, message: denied, isRaised } = ofObject[0]!;
    const views = ofObject.map(({ view }) => view);
    const names = views.length === 1 ? `view ${views[0]}` : pluralize('view', views.length, true);
    const list = views.length === 1 ? '' : ` These are ${firstOf(views)}.`;
    findings.push({
      check: 'view_unreadable',
      severity: 'warning',
      object: role,
      message: `Role "${role}" cannot read ${names}: ${denied}.${list}`,
      fix: isRaised ? null : await missingGrantOf(tx, role, denied),
    });
  }
  return findings;
}

/**
 * What of the name the role lacks; a function that runs as its owner is not for callers. `closed`: the table, if no policy
 * lets the role read a row.
 */
const lackedStatement = `
  select pg_catalog.format('grant select on %I.%I', n.nspname, c.relname) as lacked,
    case when c.relrowsecurity and not exists (
      select from pg_catalog.pg_policy p
      where p.polrelid operator(pg_catalog.=) c.oid and p.polpermissive and p.polcmd operator(pg_catalog.=) any ('{*,r}')
        and exists (
          select from pg_catalog.unnest(p.polroles) as o (oid)
          where o.oid operator(pg_catalog.=) 0 or pg_catalog.pg_has_role($3, o.oid, 'usage'))
    ) then pg_catalog.format('%I.%I', n.nspname, c.relname) end as closed,
    array(select p.polname::pg_catalog.text from pg_catalog.pg_policy p where p.polrelid operator(pg_catalog.=) c.oid) as policies
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
  where $1 operator(pg_catalog.=) 'relation' and c.relname operator(pg_catalog.=) $2 and c.relkind operator(pg_catalog.=) any ('{r,v,m,f,p}')
    and not pg_catalog.has_table_privilege($3, c.oid, 'select')
  union all
  select pg_catalog.format('grant execute on routine %s', p.oid::pg_catalog.regprocedure), null, null
  from pg_catalog.pg_proc p
  where $1 operator(pg_catalog.=) 'function' and p.proname operator(pg_catalog.=) $2 and not p.prosecdef
    and not pg_catalog.has_function_privilege($3, p.oid, 'execute')`;

interface Lacked {
  readonly lacked: string;
  readonly closed: string | null;
  readonly policies: readonly string[] | null;
}

/** Left to a person, because a grant opens more than these views; null where the words fit several objects or none. */
async function missingGrantOf(tx: Queryable, role: string, denied: string): Promise<string | null> {
  const [, kind, name] =
    /^permission denied for (schema|table|view|materialized view|foreign table|function) (.+)$/s.exec(denied) ?? [];
  if (kind === undefined || name === undefined) return null;
  const to = quoteName(role);
  if (kind === 'schema') {
    return remark(
      'Where it is meant to use what is in the schema:',
      `grant usage on schema ${quoteName(name)} to ${to}`,
    );
  }
  const lacked = await tx.query(lackedStatement, [kind === 'function' ? kind : 'relation', name, role]);
  const [found, another] = lacked as readonly unknown[] as readonly Lacked[];
  if (found === undefined || another !== undefined) return null;
  const grant = `${found.lacked} to ${to}`;
  if (found.closed !== null) {
    const policy = quoteName(freeName(`select_by_${role}`, new Set(found.policies)));
    return remark(
      'Where it is meant to read some rows, write their condition in place of false:',
      `create policy ${policy} on ${found.closed} for select to ${to} using (false)`,
      grant,
    );
  }
  const sentence =
    kind === 'function'
      ? 'Where it is meant to call it:'
      : 'Where it is meant to read it, after policies guard the rows:';
  return remark(sentence, grant);
}
