/** One request: how it ended, what took time, and its ids for the log and for traces. */

import { type AuthErrorCode, authErrorCodes } from '../../../../auth/model/auth-error.ts';
import type { RecentRequest } from '../../../../server/recent/recent-schemas.ts';
import { type Code, errorCodes } from '../../../../shared/errors.ts';
import { CopiedFact, Fact, Facts } from '../../components/facts.tsx';
import { CloseIcon } from '../../components/icons.tsx';
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import { Empty, Waiting } from '../../components/problem.tsx';
import { durationText, useRequest } from '../../shared/recent.ts';
import { nameOf } from './name-of.ts';

interface DetailProps {
  readonly id: string;
  /** From the list; null: it is not in it. */
  readonly known: RecentRequest | null;
  /** The page without it. */
  readonly backTo: string;
}

/** The panel. */
export function RequestDetail({ id, known, backTo }: DetailProps) {
  return (
    <aside className="request" aria-label="Request">
      <Link to={backTo} className="button quiet icon-button request-close" aria-label="Close" title="Close">
        <CloseIcon />
      </Link>
      {known === null ? <ReadRequest id={id} /> : <Known request={known} />}
    </aside>
  );
}

function ReadRequest({ id }: { readonly id: string }) {
  const { value, problem } = useRequest(id);
  if (value === null) return <Waiting what="request" problem={problem} />;
  if (value.request !== null) return <Known request={value.request} />;
  return (
    <Empty title="Not kept any more">
      <p>
        Each process keeps its last 500 requests. The log has it under the id <code>{id}</code>.
      </p>
    </Empty>
  );
}

function Known({ request }: { readonly request: RecentRequest }) {
  const { method, path, operationType, document, role, status, codes, messages, aborted, ms, bytes, worker } = request;
  return (
    <>
      <h2>{nameOf(request)}</h2>
      <Stages request={request} />
      <Facts>
        <Fact name="Time">
          <Moment at={request.time} />
        </Fact>
        <Fact name="Status">
          {status} {aborted && <span className="badge changed">client left</span>}
        </Fact>
        {codes.length > 0 && (
          <Fact name="Errors">
            {[...new Set(codes)].map((code) => (
              <div key={code}>
                <code>{code}</code> <span className="soft small">{meaningOf(code)}</span>
              </div>
            ))}
          </Fact>
        )}
        {messages.length > 0 && (
          <Fact name={messages.length === 1 ? 'Message' : 'Messages'}>
            {messages.map((message) => (
              <div key={message}>{message}</div>
            ))}
          </Fact>
        )}
        <Fact name="Role">{role ?? 'refused before it was known'}</Fact>
        <Fact name="Request">
          {method} {path ?? 'a path that is not served'}
        </Fact>
        {operationType !== null && <Fact name="Kind">{operationType}</Fact>}
        <Fact name="Took">{durationText(ms)}</Fact>
        <Fact name="Answer">{bytes.toLocaleString()} bytes</Fact>
        {worker !== null && <Fact name="Worker">{worker}</Fact>}
        <CopiedFact name="Request id" text={request.id} />
        <CopiedFact name="Trace id" text={request.traceId} />
        {request.errorIds.map((errorId) => (
          <CopiedFact key={errorId} name="Error id" text={errorId} />
        ))}
        {document !== null && <CopiedFact name="Document" text={document} />}
      </Facts>
      {request.errorIds.length > 0 && (
        <p className="small soft">The log has the cause of the internal error under the error id.</p>
      )}
    </>
  );
}

/** Of the codes of the GraphQL API, and of the auth service where they have usual words; the others say it themselves. */
function meaningOf(code: string): string {
  if (code in errorCodes) return errorCodes[code as Code].meaning.replaceAll('`', '');
  return (code in authErrorCodes && authErrorCodes[code as AuthErrorCode].message) || '';
}

/** Of these documents no statement runs: the database was only asked whether the schema is still the same. */
const rejections: ReadonlySet<string> = new Set<Code>(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED']);

/** What took time, as parts of a bar. */
function Stages({ request: { ms, stages, codes } }: { readonly request: RecentRequest }) {
  const { authenticateMs, parseMs, compileMs, waitMs, runMs, serializeMs } = stages;
  const measured = authenticateMs + parseMs + compileMs + runMs + serializeMs;
  const parts = [
    ['Authenticate', authenticateMs],
    ['Parse', parseMs],
    ['Compile', compileMs],
    ['Wait for a connection', waitMs],
    [codes.some((code) => rejections.has(code)) ? 'Freshness check' : 'Database', runMs - waitMs],
    ['Serialize', serializeMs],
    ['Others', Math.max(0, ms - measured)],
  ] as const;
  const shown = parts.map(([name, partMs], at) => ({ name, partMs, at })).filter(({ partMs }) => partMs >= 0.05);
  // Nothing was measured but the whole, which the facts have.
  if (measured === 0) return null;
  return (
    <div className="stages">
      <div className="stage-bar" aria-hidden="true">
        {shown.map(({ name, partMs, at }) => (
          <span key={name} data-stage={at} style={{ flexGrow: partMs }} />
        ))}
      </div>
      <ul>
        {shown.map(({ name, partMs, at }) => (
          <li key={name}>
            <span data-stage={at} aria-hidden="true" /> {name} <b>{durationText(partMs)}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
