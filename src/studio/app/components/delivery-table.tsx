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
    <Rows label={label} columns={columns}>
      {deliveries.map((delivery) => (
        <Row key={delivery.id} delivery={delivery} isOfOneUser={isOfOneUser} />
      ))}
    </Rows>
  );
}

/** Whether somebody can read it. */
function isThere(state: Delivery['state']): boolean {
  return state === 'sent' || state === 'captured';
}

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
        <span className={isThere(state) ? 'badge on' : 'badge changed'}>
          {state === 'captured' ? <Link to="inbox">{state}</Link> : state}
        </span>{' '}
        {event !== null && <span className="badge">{event}</span>}
      </td>
      <td data-title="Attempts: ">
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
