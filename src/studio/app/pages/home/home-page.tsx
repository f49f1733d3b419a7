/** The first page: is everything well, where things are, what happened in the last hour, and what a new project does next. */
import type { ReactNode } from 'react';
import type { CheckReport } from '../../../../management/check-report.ts';
import type { ProjectHealth } from '../../../../management/project-health.ts';
import { CopiedFact, Fact, Facts } from '../../components/facts.tsx';
import { Link } from '../../components/link.tsx';
import { Fault, OperatorPage } from '../../components/problem.tsx';
import { RequestsChart } from '../../components/usage-charts.tsx';
import { outage } from '../../shared/api.ts';
import { useAgain, useUsage } from '../../shared/recent.ts';
import { useAnswer } from '../../shared/requests.ts';
import { askProject, session } from '../../shared/session.ts';
import { useMedia, useStore } from '../../shared/store.ts';
import { Findings, weightsOf } from './findings.tsx';
import { NextSteps } from './next-steps.tsx';
import './home.css';

/** The page. */
export function HomePage() {
  return (
    <OperatorPage title="Home">
      <Home />
    </OperatorPage>
  );
}

function Home() {
  const answer = useAnswer('health', async (signal) => (await askProject<ProjectHealth>('health', { signal })).body);
  // Also tells when requests cannot be answered any more.
  useAgain(answer, 10_000);
  const { value: health, problem } = answer;
  const found = useAnswer('check', async (signal) => (await askProject<CheckReport>('check', { signal })).body);
  const reason = useStore(outage);
  const { value: usage } = useUsage();
  const isWide = useMedia('(width >= 1000px)');
  // Nothing is shown that would move when the state is known.
  const isKnown = health !== null || problem !== null || reason !== null;
  const requests = usage?.minutes.reduce((sum, minute) => sum + minute.requests, 0) ?? 0;
  return (
    <div className="home">
      <Fault>{reason === null && problem?.message}</Fault>
      <div className="home-columns">
        <div className="home-column">
          <section className="home-card home-health" aria-label="Health">
            {reason !== null ? (
              <State state="bad" worries={[reason]} />
            ) : health === null ? (
              <p className="soft">{problem === null && 'Reading the state …'}</p>
            ) : (
              <Health health={health} report={found.value} />
            )}
          </section>
          {isKnown && (
            <>
              {health !== null && <NextSteps health={health} hasRequests={requests > 0} />}
              <section className="home-card home-hour" aria-label="Last hour">
                {usage !== null && <RequestsChart usage={usage} />}
                <Link to="logs" className="small">
                  All requests
                </Link>
              </section>
            </>
          )}
        </div>
        <div className="home-column">
          {(isKnown || isWide) && <Addresses health={health} />}
          {isKnown && <Findings {...found} />}
        </div>
      </div>
    </div>
  );
}

/** What somebody should look at. */
function worriesOf({ isReady, reason, mail, versions }: ProjectHealth): readonly ReactNode[] {
  return [
    ...(isReady ? [] : [reason]),
    ...(versions.authMigration === null
      ? ['The database has no auth tables. They are made by pgreflect init --auth.']
      : []),
    ...(mail.oldestSeconds > 600
      ? [`An email has waited for ${Math.round(mail.oldestSeconds / 60)} minutes. Deliveries says why.`]
      : []),
  ];
}

const transports = {
  inbox: 'kept in the inbox: no mail server is set',
  server: 'a mail server',
  service: 'a mail service',
  hook: 'a hook',
} as const;

const titles = { bad: 'Requests cannot be answered', mixed: 'Look at this', well: 'All is well' } as const;

interface StateProps {
  readonly state: keyof typeof titles;
  readonly worries: readonly ReactNode[];
}

function State({ state, worries }: StateProps) {
  return (
    <>
      <h2 className="home-state" data-state={state}>
        {titles[state]}
      </h2>
      {worries.length > 0 && (
        <ul className="home-worries">
          {worries.map((worry, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they have no names
            <li key={index}>{worry}</li>
          ))}
        </ul>
      )}
    </>
  );
}

interface HealthProps {
  readonly health: ProjectHealth;
  readonly report: CheckReport | null;
}

function Health({ health, report }: HealthProps) {
  const { versions, database, schemaAgeSeconds, isLiveExact, roles, mail, isReady } = health;
  const worries = worriesOf(health);
  const found = report === null ? '' : weightsOf(report);
  return (
    <>
      <State state={!isReady ? 'bad' : worries.length > 0 || found !== '' ? 'mixed' : 'well'} worries={worries} />
      <Facts>
        <Fact name="Database">
          PostgreSQL {versions.postgres}, {database.name}
        </Fact>
        <Fact name="Schema">
          {schemaAgeSeconds === null ? 'not read yet' : `read ${ageText(schemaAgeSeconds)} ago`}
          {roles.map(({ role, tables }) => (
            <span key={role}>
              , {role} sees {tables} {tables === 1 ? 'table' : 'tables'}
            </span>
          ))}
        </Fact>
        <Fact name="Mail">
          {transports[mail.transport]}
          {mail.waiting > 0 && `, ${mail.waiting} waiting`}
        </Fact>
        <Fact name="Live">{isLiveExact ? 'after each change' : 'at an interval'}</Fact>
        <Fact name="Findings">{report === null ? '…' : found === '' ? 'no errors, no warnings' : found}</Fact>
        <Fact name="pgreflect">
          {versions.pgreflect}
          {versions.authMigration !== null && `, auth migration ${versions.authMigration}`}
        </Fact>
      </Facts>
    </>
  );
}

function ageText(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} hours` : `${Math.round(seconds / 86_400)} days`;
}

/** The URLs and keys. */
function Addresses({ health }: { readonly health: ProjectHealth | null }) {
  const now = useStore(session);
  if (now.kind === 'none') return null;
  const { ref, keys } = now.project;
  const { origin } = location;
  return (
    <section className="home-card" aria-label="Connect">
      <h2>Connect</h2>
      <Facts>
        <CopiedFact name="GraphQL" text={`${origin}/graphql/v1`} />
        <CopiedFact name="Auth" text={`${origin}/auth/v1`} />
        {keys !== null && keys.anon !== '' && <CopiedFact name="Anon key" text={keys.anon} />}
        {keys !== null && keys.service !== '' && <CopiedFact name="Service key" text={keys.service} isSecret />}
        <CopiedFact name="Project ref" text={ref} />
        {health !== null && (
          <CopiedFact
            name="Database"
            text={`${health.database.host}:${health.database.port}/${health.database.name}`}
          />
        )}
      </Facts>
      <Link to="api-docs" className="small">
        Code for your client
      </Link>
    </section>
  );
}
