/** What a new project does next. Steps tick themselves off; the list goes when all are done, or when its reader has had enough. */
import { useState } from 'react';
import type { ProjectHealth } from '../../../../management/project-health.ts';
import { CloseIcon, TickIcon } from '../../components/icons.tsx';
import { Link } from '../../components/link.tsx';
import { session } from '../../shared/session.ts';

interface NextStepsProps {
  readonly health: ProjectHealth;
  /** In the last hour. */
  readonly hasRequests: boolean;
}

/** Of this browser, for each project. */
function nameOfKept(): string {
  const now = session.get();
  return `pgreflect:steps:${now.kind === 'none' ? '' : now.project.ref}`;
}

/** What was done once stays done: requests of the last hour go by. */
function readKept(): readonly string[] {
  return (localStorage.getItem(nameOfKept()) ?? '').split(' ');
}

/** The list; nothing if there is no step left. */
export function NextSteps({ health, hasRequests }: NextStepsProps) {
  const [kept, setKept] = useState(readKept);
  const { roles, hasUsers, hasOwnTemplates, mail } = health;
  if (hasRequests && !kept.includes('request')) localStorage.setItem(nameOfKept(), [...kept, 'request'].join(' '));
  const seen = roles.filter(({ tables }) => tables > 0);
  const steps = [
    { title: 'Show a table to a role', to: 'schema', isDone: seen.length > 0 },
    {
      title: 'Switch row security on for each table that is shown',
      to: 'schema',
      isDone: seen.length > 0 && roles.every(({ withoutRowSecurity }) => withoutRowSecurity.length === 0),
    },
    { title: 'Send the first request', to: 'graphql', isDone: hasRequests || kept.includes('request') },
    { title: 'Add the first user', to: 'users', isDone: hasUsers },
    { title: 'Set a mail server', to: 'settings', isDone: mail.transport !== 'inbox' },
    { title: 'Make an email your own', to: 'emails', isDone: hasOwnTemplates },
  ];
  const left = steps.filter(({ isDone }) => !isDone).length;
  if (left === 0 || kept.includes('dismissed')) return null;
  const dismiss = (): void => {
    const all = [...kept, 'dismissed'];
    localStorage.setItem(nameOfKept(), all.join(' '));
    setKept(all);
  };
  return (
    <section className="home-card" aria-label="Next steps">
      <div className="spread">
        <h2>Next steps</h2>
        <button type="button" className="quiet icon-button" aria-label="Dismiss" title="Dismiss" onClick={dismiss}>
          <CloseIcon />
        </button>
      </div>
      <ul className="home-steps">
        {steps.map(({ title, to, isDone }) => (
          <li key={title} data-done={isDone}>
            <span className="home-tick" aria-hidden="true">
              {isDone && <TickIcon />}
            </span>
            {isDone ? title : <Link to={to}>{title}</Link>}
            {isDone && <span className="visually-hidden">(done)</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
