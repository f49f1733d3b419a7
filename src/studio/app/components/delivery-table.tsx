/** A table of deliveries: emails with their delivery status. */
import type { Delivery } from '../../../management/deliveries/deliveries.ts';
import { emailTitle } from '../shared/email-title.ts';
import { Link } from './link.tsx';
import { Moment } from './moment.tsx';
import { Rows } from './rows.tsx';

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  readonly label: string;
  /** Leaves out the links to users. */
  readonly isOfOneUser?: boolean;
}

/** The table. */
export function DeliveryTable({ deliveries, label, isOfOneUser = false }: DeliveryTableProps) {
  const columns = ['Time', 'Email', ...(isOfOneUser ? [] : ['Recipient']), 'State', 'Attempts', 'Last answer'];
  return (
    <Rows label={label} columns={columns} isWide>
      {deliveries.map((delivery) => (
        <Row key={delivery.id} delivery={delivery} isOfOneUser={isOfOneUser} />
      ))}
    </Rows>
  );
}

/** Somebody can read it, it is still under way, or nobody will get it. */
const stateBadges = {
  sent: 'badge on',
  captured: 'badge on',
  queued: 'badge changed',
  deferred: 'badge changed',
  failed: 'badge failed',
  suppressed: 'badge failed',
} as const satisfies Record<Delivery['state'], string>;

function Row({ delivery, isOfOneUser }: { readonly delivery: Delivery; readonly isOfOneUser: boolean }) {
  const { kind, userId, recipient, locale, state, attempts, answer, event, createdAt, nextAttemptAt } = delivery;
  return (
    <tr>
      <td>
        <Moment at={createdAt} />
      </td>
      <th scope="row">
        {emailTitle(kind)} {locale !== null && <span className="badge">{locale}</span>}{' '}
        {userId === null && <span className="badge">test</span>}
      </th>
      {!isOfOneUser && (
        <td>{userId === null ? recipient : <Link to={`users/${userId}?tab=emails`}>{recipient ?? 'user'}</Link>}</td>
      )}
      <td>
        <span className={stateBadges[state]}>{state === 'captured' ? <Link to="inbox">{state}</Link> : state}</span>{' '}
        {event !== null && <span className="badge">{event}</span>}
      </td>
      <td data-title="Attempts">
        {attempts}
        {nextAttemptAt !== null && (
          <div className="small">
            next: <Moment at={nextAttemptAt} />
          </div>
        )}
      </td>
      <td className="small">{answer ?? ''}</td>
    </tr>
  );
}
