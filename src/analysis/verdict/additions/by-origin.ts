/**
 * Names the request or test in whose asynchronous context the failing code ran. If the context was lost, the sentence says
 * so, and lists requests and tests that were open at the time only as such.
 */
import { partNames } from '../../../bundle/layout/bundle.ts';
import { culpritFrame, frameText, isOfNode } from '../../../model/frame-text.ts';
import { type OriginFacts, type RequestAccount, requestName } from '../../../model/origin.ts';
import { clip, formatBytes, formatCount, formatDuration } from '../../../model/quantities.ts';
import { type TestFacts, testTitle } from '../../../model/tests.ts';
import type { Evidence, Verdict } from '../../../model/verdict.ts';
import { abortFrame } from '../errors/aborted.ts';
import { beganFrame, likelyCall } from '../errors/begun.ts';
import type { VerdictFacts } from '../facts.ts';
import { cwdOf, deathFrames, messageIn, titleFor } from '../wording.ts';
import { type Filler, findFiller } from './filled-by.ts';

const verbs: Partial<Record<Verdict['kind'], string>> = {
  'uncaught-exception': 'threw',
  'unhandled-rejection': 'rejected',
  'event-loop-hang': 'blocks the event loop',
  exit: 'called process.exit',
  'worker-death': 'ended its worker thread',
};

/** What the request's own code did, as far as the verdict's kind shows it. */
function verbOf(kind: Verdict['kind'], { trigger }: VerdictFacts): string | undefined {
  if (kind === 'terminated' && trigger?.signal?.fromItself) return 'sent the signal';
  if (kind !== 'resource-exhaustion') return verbs[kind];
  return trigger?.kind === 'unhandled-rejection' ? 'rejected' : 'threw';
}
const longestName = 60;
const longestTest = 40;

export function explainByOrigin(reached: Verdict, facts: VerdictFacts): Verdict {
  const ofRequest = tell(reached, byRequest(reached, facts));
  const test = byTest(reached, facts);
  const explained = tell(ofRequest, test);
  if (test?.prefix === undefined) return explained;
  // What happened is worth more in a title than to whom.
  const told = messageIn(reached.title);
  const titles = [explained.title, titleFor(test.prefix, reached.title), ofRequest.title];
  return { ...explained, title: titles.find((title) => title.includes(told)) ?? ofRequest.title };
}

function tell(verdict: Verdict, told: Told | undefined): Verdict {
  if (!told) return verdict;
  const { prefix, sentence, part, step, refutedBy, isBesides } = told;
  return {
    ...verdict,
    ...(prefix !== undefined && { title: titleFor(prefix, verdict.title) }),
    summary: isBesides ? `${verdict.summary} ${sentence}` : `${sentence} ${verdict.summary}`,
    evidence: [...verdict.evidence, { fact: sentence, part }],
    ...(step !== undefined && { nextSteps: [...verdict.nextSteps, step] }),
    ...(refutedBy !== undefined && { refutedBy: `${verdict.refutedBy} ${refutedBy}` }),
  };
}

/** `isBesides`: doesn't help with the cause, so it is put after the summary. */
type Told = {
  prefix?: string;
  sentence: string;
  step?: string;
  refutedBy?: string;
  isBesides?: true;
} & Pick<Evidence, 'part'>;

function byRequest(reached: Verdict, facts: VerdictFacts): Told | undefined {
  const { kind, place: at } = reached;
  const { account, trigger } = facts;
  const { requests = [], origin } = account;
  const part = partNames.origin;
  const culprit = requests.find((request) => request.culprit);
  const verb = verbOf(kind, facts);
  const filler = findFiller(reached, facts);
  if (culprit && filler) return tellFiller(culprit, filler, origin);
  if (culprit && verb !== undefined) {
    const name = clip(requestName(culprit), longestName);
    // A call that started or aborted it is no place where anything threw.
    const isElsewhere = beganFrame(facts) ?? likelyCall(facts) ?? abortFrame(facts);
    const threwAt = isElsewhere ? culpritFrame(deathFrames(account)) : at;
    const isInNode = !threwAt || isOfNode(threwAt);
    // Node makes an error of a value that is none, so the stack is only that of Node.
    const isPlaced = at && account.error?.code !== 'ERR_UNHANDLED_REJECTION';
    const place = isPlaced ? ` in ${isInNode ? "Node's own code" : frameText(threwAt, cwdOf(account))}` : '';
    const did = isEmitted(facts) ? `emitted an event, and a listener ${verb}` : verb;
    const sentence = `${name}${detailOf(culprit)} ${did}${place}; ${othersText(origin, culprit)}.`;
    const hasOthers = othersInFlight(origin, culprit) > 0;
    // No prefix for exhausted resources: all requests used them.
    return {
      ...(kind !== 'resource-exhaustion' && { prefix: name }),
      sentence,
      part,
      ...(hasOthers && { refutedBy: handedOver }),
    };
  }
  const inFlight = origin?.inFlight ?? 0;
  const isAsked = verb !== undefined && trigger?.kind !== 'signal' && !hasTest(origin);
  if (inFlight === 0)
    return isAsked && origin?.lost === 'recurring'
      ? { sentence: `Which request caused it is not known${whyLost(origin, requests)}.`, part }
      : undefined;
  const oldest = requests.find(({ answeredMsBefore }) => answeredMsBefore === undefined);
  const age = oldest?.ageMs === undefined ? '' : ` for ${formatDuration(oldest.ageMs)}`;
  const which = inFlight === 1 ? '' : 'the oldest ';
  const first = oldest ? `, ${which}${clip(requestName(oldest), longestName)}${age}` : '';
  // V8 gives up at whatever allocation comes next.
  const whether = kind === 'heap-out-of-memory' ? ' Whether one of them filled the heap is not known.' : '';
  if (origin?.lastSeen)
    return {
      sentence: `${lastSeenText(origin.lastSeen, inFlight, first)}${whether}`,
      part: partNames.journal,
      isBesides: true,
    };
  const flying = `${formatCount(inFlight, 'request')} ${inFlight === 1 ? 'was' : 'were'} in flight${first}.`;
  const why = isAsked ? `Which request caused it is not known${whyLost(origin ?? {}, requests)}. ` : '';
  const step = isAsked && origin?.lost === 'not-followed' ? { step: followStep } : {};
  return { sentence: `${why}${flying}${whether}`, part, ...step };
}

function tellFiller(culprit: RequestAccount, filler: Filler, origin: OriginFacts | undefined): Told {
  const { fromBytes, toBytes, limitBytes } = filler;
  const name = clip(requestName(culprit), longestName);
  const grew = `from ${formatBytes(fromBytes)} to ${formatBytes(toBytes)} of ${formatBytes(limitBytes)}`;
  const others = othersInFlight(origin, culprit);
  const flying = others > 0 ? ` When the recorder last noted requests, ${othersText(origin, culprit)}.` : '';
  return {
    prefix: name,
    sentence: `${name}${detailOf(culprit)} filled the heap without returning to the event loop: it grew ${grew} meanwhile.${flying}`,
    part: partNames.heapProfile,
    refutedBy: handedOver,
  };
}

/** An asynchronous context can't distinguish the code that registered a callback from the code that later calls it. */
const handedOver =
  'As to the request: a queue, pool or emitter shared by several requests that ran the failing code for another one.';

/** The program's own code called emit, and a listener failed. Any request may have added that listener. */
function isEmitted({ account }: VerdictFacts): boolean {
  const frames = deathFrames(account);
  const emit = frames.findIndex(
    ({ file, function: name }) => file === 'node:events' && /\bemit$/.test(name ?? ''),
  );
  const caller = frames[emit + 1];
  return emit > 0 && caller?.inApp === true;
}

const followStep =
  'To know the request next time, set AGENTDUMP_CONTEXT=always: the default from Node 24 on; on Node 20 and 22 it costs each promise.';

/** What happened to these requests between that record and the end is unknown. */
function lastSeenText(
  { at, beforeEndMs }: NonNullable<OriginFacts['lastSeen']>,
  count: number,
  first: string,
) {
  const when = beforeEndMs === undefined ? '' : `, ${formatDuration(beforeEndMs)} before the end`;
  const flying = `${formatCount(count, 'request')} ${count === 1 ? 'was' : 'were'} in flight${first}`;
  return `When the recorder last noted requests, at ${at}${when}, ${flying}.`;
}

const hasTest = (origin: OriginFacts | undefined): boolean =>
  origin?.chain?.some(({ kind }) => kind === 'test') === true;

function detailOf({ route, path, answeredMsBefore }: RequestAccount): string {
  const details = [
    route !== undefined && route !== path?.split('?')[0] && `route ${clip(route, longestName)}`,
    answeredMsBefore !== undefined && `answered ${formatDuration(answeredMsBefore)} before`,
  ].filter((detail) => typeof detail === 'string');
  return details.length ? ` (${details.join(', ')})` : '';
}

const othersInFlight = (origin: OriginFacts | undefined, { answeredMsBefore }: RequestAccount): number =>
  (origin?.inFlight ?? 0) - (answeredMsBefore === undefined ? 1 : 0);

function othersText(origin: OriginFacts | undefined, culprit: RequestAccount): string {
  const others = othersInFlight(origin, culprit);
  if (others <= 0) return 'no other request was in flight';
  return others === 1 ? '1 other was in flight' : `${others} others were in flight`;
}

function whyLost({ lost, maker }: OriginFacts, requests: readonly RequestAccount[]): string {
  const first = requests.find(({ id }) => id === maker);
  if (lost === 'recurring') {
    const from = first ? `, which ${clip(requestName(first), longestName)}${detailOf(first)} started` : '';
    return `: it was called by a recurring timer, port or watcher${from}`;
  }
  if (lost === 'connection') return ': it came over a connection that several may share';
  if (lost === 'not-followed') return ': requests were not followed';
  // One of the requests may have started it nevertheless: some callbacks have already left their context when they fail.
  return ": the failing code ran in no request's asynchronous context";
}

/** Not for a failed test or a stopped run: there the test runner reports which test it was. */
function byTest({ kind }: Verdict, { account }: VerdictFacts): Told | undefined {
  const tests = account.process?.test;
  if (!tests?.isFollowed || verbs[kind] === undefined) return undefined;
  const { origin } = tests;
  const part = partNames.tests;
  if (!origin) return { sentence: `Which test began it is not known.${thenRunning(tests, undefined)}`, part };
  const title = clip(testTitle(origin), 200);
  const what = origin.hook ? hookText(title) : `The test ${title}`;
  const prefix = `${origin.hook ? 'Hook' : 'Test'} “${clip(origin.name.at(-1) ?? title, longestTest)}”`;
  const { beforeMs } = origin.ended ?? {};
  const ended = beforeMs === undefined ? '' : `, and had ended ${formatDuration(beforeMs)} before`;
  return { prefix, sentence: `${what} began it${ended}.${thenRunning(tests, title)}`, part };
}

/** Some runners name the hook itself, others the test or suite around which it ran. */
const hookText = (title: string): string =>
  /\bhook\b[^›]*$/.test(title) ? `The hook ${title}` : `A hook around ${title}`;

function thenRunning({ running = [] }: TestFacts, own: string | undefined): string {
  const others = running.map(testTitle).filter((title) => title !== own);
  const [only] = others;
  if (only === undefined) return '';
  return others.length === 1
    ? ` Running then: ${clip(only, 200)}.`
    : ` ${others.length} others were running then.`;
}
