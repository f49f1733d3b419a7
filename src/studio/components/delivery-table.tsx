/**
 * A table of deliveries: what became of emails.
 */
import type { Delivery } from '../../management/deliveries/deliveries.ts';
import { emailTitle } from '../shared/email-titles.ts';
import { Link } from './link.tsx';
import { Rows } from './rows.tsx';

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  /** Names the table. */
  readonly label: string;
  /** Leaves out the links to users. */
  readonly isOfOneUser?: boolean;
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

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

function Row({ delivery, isOfOneUser }: { readonly delivery: Delivery; readonly isOfOneUser: boolean }) {
  const { kind, userId, recipient, locale, state, attempts, answer, event, createdAt } = delivery;
  return (
    <tr>
      <td>
        <time dateTime={createdAt}>{moment.format(new Date(createdAt))}</time>
      </td>
      <th scope="row">
        {emailTitle(kind)} {locale !== null && <span className="badge">{locale}</span>}{' '}
        {userId === null && <span className="badge">test</span>}
      </th>
      {!isOfOneUser && (
        <td>{userId === null ? recipient : <Link to={`users/${userId}`}>{recipient ?? 'user'}</Link>}</td>
      )}
      <td>
        <span className={state === 'sent' ? 'badge on' : 'badge changed'}>{state}</span>{' '}
        {event !== null && <span className="badge">{event}</span>}
      </td>
      <td>{attempts}</td>
      <td className="small">{answer ?? ''}</td>
    </tr>
  );
}
