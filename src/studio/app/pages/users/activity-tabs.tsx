/** What was sent to a user, and what happened to the account. */
import { useState } from 'react';
import { DeliveryTable } from '../../components/delivery-table.tsx';
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import { Waiting } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { listDeliveries } from '../../shared/deliveries.ts';
import { useAnswer } from '../../shared/requests.ts';
import { type AuditEntry, askAuth } from '../../shared/users.ts';
import type { UserTabProps } from './user-tab.ts';

const listedEmails = 20;

/** The latest emails to the user. */
export function EmailsTab({ user: { id } }: UserTabProps) {
  const { value, problem } = useAnswer(`emails ${id}`, (signal) =>
    listDeliveries(`user=${id}&limit=${listedEmails}`, signal),
  );
  if (value === null) return <Waiting what="emails" problem={problem} />;
  if (value.length === 0) return <p className="soft">No emails in the list of deliveries.</p>;
  return (
    <>
      <DeliveryTable deliveries={value} label="Emails to this user" isOfOneUser />
      <Link to={`deliveries?user=${id}`}>All emails to this user</Link>
    </>
  );
}

const auditStep = 50;
const maxAudit = 1000;

/** What the user did, and what was done to the account. @param props.done Grows with every change. */
export function AuditTab({ user: { id }, done }: UserTabProps & { readonly done: number }) {
  const [size, setSize] = useState(auditStep);
  const { value, problem } = useAnswer(`audit ${id} ${size} ${done}`, async () => {
    const { body, headers } = await askAuth<readonly AuditEntry[]>(`admin/audit?user=${id}&per_page=${size}`);
    return { entries: body, total: Number(headers.get('x-total-count')) };
  });
  if (value === null) return <Waiting what="audit log" problem={problem} />;
  if (value.total === 0) return <p className="soft">Nothing in the audit log.</p>;
  return (
    <>
      <Rows label="Audit log" columns={['Time', 'Action', 'By', 'From']} isWide>
        {value.entries.map(({ id: entry, created_at: at, payload, ip_address: ip }) => (
          <tr key={entry}>
            <td>
              <Moment at={at} />
            </td>
            <th scope="row">{payload.action}</th>
            <td data-title="By">{payload.actor_username}</td>
            <td data-title="From">{ip}</td>
          </tr>
        ))}
      </Rows>
      {value.total > value.entries.length && size < maxAudit && (
        <button type="button" onClick={() => setSize(Math.min(maxAudit, size * 4))}>
          Show more of {value.total.toLocaleString()}
        </button>
      )}
    </>
  );
}
