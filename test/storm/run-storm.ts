/**
 * A storm: simulated clients do what people do with their accounts, through the published client, while the servers are stopped,
 * killed and started again. Everything random comes from one seed; how requests interleave does not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../property/random.ts';
import { checkLinks, checkNotifications, checkUsers, emptyOutbox } from './checks.ts';
import { type Flow, flows, suits } from './flows.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { ask, createPerson, Lost, NotNow, newDevice, newest, type Person, Refused, signIn } from './person.ts';
import { counterOf, settle, untilAnswered } from './settle.ts';
import { summarize } from './summarize-log.ts';
import { type Duration, makeWeather } from './weather.ts';
import type { World } from './world.ts';

/** How big it is. */
export interface StormOptions {
  readonly clients: number;
  readonly seed: number;
  readonly duration: Duration;
  /** Hears of each disturbance. */
  readonly onEvent?: (name: string) => void;
}

/** What is left of it. */
export interface StormReport {
  /** Counts by name. */
  readonly figures: ReadonlyMap<string, number>;
  /** Empty where everything held. */
  readonly violations: readonly string[];
  /** What the gateways logged that is worth a look, with its number. */
  readonly complaints: ReadonlyMap<string, number>;
}

/** Runs it to its end, or to the first violation. */
export async function runStorm(
  { clients, seed, duration, onEvent = () => {} }: StormOptions,
  startWorld: (ledger: Ledger) => Promise<World>,
): Promise<StormReport> {
  const random = createRandom(seed);
  const ledger = openLedger();
  const world = await startWorld(ledger);
  const people = Array.from({ length: clients }, (_, index) => createPerson(`p${index}`, world, ledger, random.fork()));
  let isCalm = false;
  const isOver = () => isCalm || ledger.violations.length > 0;
  const weather = makeWeather(world, random.fork(), duration, {
    isOver,
    flowsDone: () => ledger.figures.get('flows done') ?? 0,
    onEvent(name) {
      ledger.disturb(name !== null);
      if (name === null) return;
      ledger.count(`disturbances: ${name}`);
      onEvent(name);
    },
  }).finally(() => {
    isCalm = true;
  });
  await Promise.all([
    weather,
    lookAround(world, ledger, isOver),
    ...people.map((person) => live(person, people.length * maxPauseMs, isOver)),
  ]);
  await world.finish(ledger);
  if (ledger.violations.length === 0) await checkEnd(world, ledger, people);
  return { figures: ledger.figures, violations: ledger.violations, complaints: summarize(world.complaints()) };
}

/** Of a client, for each client: passwords are work, and the servers should not be busy with nothing else. */
const maxPauseMs = 50;

/** One flow after the other until the storm is over. @param pauseMs The longest pause between two. */
async function live(person: Person, pauseMs: number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await untilAnswered(() => settle(person));
    const flow = pickFlow(
      person.random,
      flows.filter((each) => suits(each, person.account)),
    );
    await run(person, flow);
    await sleep(person.random.int(0, pauseMs));
  }
}

function pickFlow(random: Random, possible: readonly Flow[]): Flow {
  return random.pick(possible.flatMap((flow) => Array.from({ length: flow.weight }, () => flow)));
}

async function run(person: Person, flow: Flow): Promise<void> {
  const { ledger, random, devices } = person;
  try {
    await flow.run(person, random.pick(devices));
    ledger.count('flows done');
    ledger.count(`flows done: ${flow.name}`);
  } catch (error) {
    if (error instanceof Lost) ledger.count('flows cut off');
    else if (error instanceof NotNow) ledger.count('flows put off');
    else if (!(error instanceof Refused)) throw error;
  }
}

/** Looks at the database now and then. */
async function lookAround(world: World, ledger: Ledger, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await checkUsers(world, ledger);
    await sleep(1000);
  }
}

/** Everybody is who they believe to be, nothing is half-written, everything was told. */
async function checkEnd(world: World, ledger: Ledger, people: readonly Person[]): Promise<void> {
  await Promise.all(people.map((person) => untilAnswered(() => checkPerson(person))));
  if (!(await checkUsers(world, ledger))) ledger.violation('the database cannot be asked');
  await emptyOutbox(world, ledger);
  await checkNotifications(world, ledger);
  await checkLinks(world, ledger);
}

async function checkPerson(person: Person): Promise<void> {
  await settle(person);
  const { account } = person;
  if (account === null || !newest(account.confirmed)) return;
  const device = newDevice(person);
  try {
    await signIn(person, device);
    const { user } = await ask(person, 'own user at the end', () => device.supabase.auth.getUser());
    counterOf(person, user);
    person.ledger.count('accounts that are as their owners know them');
  } catch (error) {
    // It is a violation, and noted.
    if (!(error instanceof Refused)) throw error;
  }
}
