/** How verdicts name errors, frames and files: short and consistent. Pure. */
import type { Account, ErrorFacts } from '../../model/account.ts';
import { onOneLine, shorten } from '../../model/errors/message-text.ts';
import { endOfPath } from '../../model/frame-text.ts';
import type { Frame } from '../../model/thread.ts';
import type { VerdictPlace } from '../../model/verdict.ts';
import { isInstalled } from '../../platform/paths.ts';
import type { Surroundings } from '../headroom.ts';
import { packageOf } from './errors/module-errors.ts';
import type { VerdictFacts } from './facts.ts';

export const maxTitleChars = 100;

/** `TypeError: x is not a function`, on one line; with `[code]` if neither name nor message contains it. */
export function headlineOf(error: ErrorFacts, { thrownType, trigger }: Partial<VerdictFacts> = {}): string {
  const message = onOneLine(error.message ?? '');
  const [, reason] =
    rejectedWith.exec(error.code === 'ERR_UNHANDLED_REJECTION' ? (error.message ?? '') : '') ?? [];
  if (reason !== undefined) return `Rejected with what is no error: ${onOneLine(reason)}`;
  if (thrownType !== undefined && error.name === undefined) {
    const ofObject = thrownType === 'object' ? 'an object' : 'what is no error';
    const what =
      trigger?.kind === 'unhandled-rejection' ? `Rejected with ${ofObject}` : `Thrown ${thrownType}`;
    const code = error.code && !message.includes(error.code) ? ` [${error.code}]` : '';
    return message && message !== thrownType ? `${what}${code}: ${message}` : `${what}${code}`;
  }
  const name = error.name ?? 'Error';
  const isNumber = legacyCodes[name] === error.code || /^Command failed: /.test(message);
  const code = isNumber ? undefined : error.code;
  const coded = code && !message.includes(code) && !name.includes(code) ? `${name} [${code}]` : name;
  return message ? `${coded}: ${message}` : coded;
}

/** Of a command that failed, the code is that of its exit. The legacy code of each DOMException name: https://webidl.spec.whatwg.org/#idl-DOMException-error-names. */
const legacyCodes: Record<string, string | undefined> = {
  IndexSizeError: '1',
  HierarchyRequestError: '3',
  WrongDocumentError: '4',
  InvalidCharacterError: '5',
  NoModificationAllowedError: '7',
  NotFoundError: '8',
  NotSupportedError: '9',
  InvalidStateError: '11',
  SyntaxError: '12',
  InvalidModificationError: '13',
  NamespaceError: '14',
  InvalidAccessError: '15',
  SecurityError: '18',
  NetworkError: '19',
  AbortError: '20',
  URLMismatchError: '21',
  QuotaExceededError: '22',
  TimeoutError: '23',
  InvalidNodeTypeError: '24',
  DataCloneError: '25',
};

/** The end of Node's message for a rejection with a value that is not an error; for an object it contains only the class. */
const rejectedWith = /with the reason "([\s\S]*)"\.$/;

/** The frames of the thrown error, or of the thread that ended the process. */
export function deathFrames(account: VerdictFacts['account']): Frame[] {
  const { error } = account;
  // The own stack of an aggregate is useless; the first member's is used instead.
  const own = error?.frames?.length ? error.frames : error?.errors?.[0]?.frames;
  return own ?? account.threads?.find((t) => t.crashed)?.frames ?? [];
}

/** The `place` field of a verdict; empty if the frame has no file. */
export function placedAt(frame: Frame | undefined): { place?: VerdictPlace } {
  if (frame?.file === undefined) return {};
  const { function: name, file, line, column } = frame;
  return {
    place: {
      ...(name !== undefined && { function: name }),
      file,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    },
  };
}

/** The last cause of a chain, or the error itself. */
export function rootCause(error: ErrorFacts): ErrorFacts {
  let root = error;
  while (root.cause) root = root.cause;
  return root;
}

/** The error, its causes and aggregate members, depth first. The part's reader limits how many there can be. */
export function everyError(error: ErrorFacts | undefined): ErrorFacts[] {
  const found: ErrorFacts[] = [];
  const open = error ? [error] : [];
  for (let next = open.pop(); next; next = open.pop()) {
    found.push(next);
    open.push(...(next.errors ?? []), ...(next.cause ? [next.cause] : []));
  }
  return found;
}

export function titled(text: string): string {
  return shorten(text, maxTitleChars);
}

type PlaceWord = 'at' | 'likely at' | 'in' | 'from';

/** Ends a title that `titleWithPlace` made. */
const placed = /^(.*?) (likely at|at|in|from) (\S+:\d+)$/;

/** What `titleWithPlace` put before the place. */
export function messageIn(title: string): string {
  return placed.exec(title)?.[1] ?? title;
}

/** A title with more before it. If it is too long, the end of what happened is cut, and not whom it concerns (`GET /orders/17`) or where it was. */
export function titleFor(whom: string, title: string): string {
  const [, what, word, place] = placed.exec(title) ?? [];
  return place === undefined
    ? titled(`${whom}: ${title}`)
    : titleWithPlace(`${whom}: ${what}`, word as PlaceWord, place);
}

/**
 * `TypeError: x is not a function at src/plan.ts:4:2`. If it is too long, folders are cut before the message where that is enough,
 * else the message before the place; of a place within a package, the package is left.
 */
export function titleWithPlace(headline: string, word: PlaceWord, place: string | undefined): string {
  if (place === undefined) return fitHeadline(headline, maxTitleChars);
  const said = headline.replace(/\.$/, '');
  const room = maxTitleChars - word.length - 2;
  // The message says more than a place within a package does.
  const within = isInstalled(place) ? packageOf(place) : undefined;
  if (within !== undefined && said.length > room - leastPlace)
    return titled(`${fitHeadline(said, maxTitleChars - within.length - 4)} in ${within}`);
  const left = room - said.length;
  const end = endOfPath(place, left >= endOfPath(place, 0).length ? left : leastPlace);
  return titled(`${fitHeadline(said, Math.max(room - end.length, leastPlace))} ${word} ${end}`);
}

/**
 * A headline that is too long is cut at its end, but not before its subject: the second sentence of the message of Nest names what
 * the first one lacks, so that both are put as one.
 */
function fitHeadline(headline: string, room: number): string {
  if (headline.length <= room) return headline;
  const said = headline.slice(0, mostRead);
  const [, provider, lacking, index] = nestMessage.exec(said) ?? [];
  const short = `Nest can't resolve argument ${index} (${lacking}) of ${provider}`;
  if (provider !== undefined && short.length <= room) return short;
  return shorten(said.replace(codeOfError, ''), room);
}

/** The patterns below take quadratic time. */
const mostRead = 1000;

/** ` [CSV_RECORD_INCONSISTENT_COLUMNS]` behind the name of an error: the message says it in words, and the evidence has both. */
const codeOfError = /(?<=^(?:.*: )?[\w$.]*(?:Error|Exception)) \[[A-Za-z][\w.-]+\](?=: )/;

/** Quoted in some versions only: https://github.com/nestjs/nest/blob/master/packages/core/errors/messages.ts. */
const nestMessage =
  /Nest can't resolve dependencies of the (\S+) \([^)]*\)\. Please make sure that the argument "?(\S+?)"? at index \[(\d+)\]/;

/** The minimum number of characters for the place and for the headline. */
const leastPlace = 40;

export const cwdOf = (account: Pick<Account, 'process'>): string | undefined => account.process?.cwd;

/** The input of the headroom functions. */
export function surroundingsOf({ account, memory, handles }: VerdictFacts): Surroundings {
  return {
    ...(account.process && { process: account.process }),
    ...(memory && { memory }),
    ...(handles && { handles }),
  };
}

/** Nothing died and nothing was unhealthy, so no reason for a death applies. */
export const isSnapshot = (facts: VerdictFacts): boolean =>
  facts.trigger?.kind?.startsWith('snapshot-') === true ||
  (facts.trigger?.kind === 'capture' && !isWithoutProgress(facts));

/** The process's own watch saw no sign of progress, or a supervisor's check failed while the event loop turned. */
export const isWithoutProgress = ({ trigger }: VerdictFacts): boolean =>
  trigger?.kind === 'no-progress' || (trigger?.kind === 'capture' && trigger.verdictKind === 'no-progress');

/**
 * What Node raised, and ` in …`. It gives a rejection as the origin if the evaluation of a module failed, but emits no unhandledRejection
 * then (capture/triggers/raised-rejections.ts).
 */
export function raisedText({ trigger }: VerdictFacts, where = ''): string {
  if (trigger?.kind === 'uncaught-exception' && trigger.origin === 'unhandledRejection')
    return `Node raised uncaughtException${where} because the evaluation of a module failed.`;
  return `Node raised ${trigger?.origin ?? 'uncaughtException'}${where}.`;
}
