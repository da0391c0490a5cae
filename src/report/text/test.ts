/** Which test was running: its name, its file, and how many had not finished. */
import type { Account } from '../../model/account.ts';
import { formatCount, formatDuration } from '../../model/quantities.ts';
import { type TestFacts, testName, testOf, testTitle } from '../../model/tests.ts';
import { keyValues, oneLine, type Page } from './layout.ts';

const mostUnfinished = 5;

export function renderTest(account: Account, page: Page): string[] {
  const tests = account.process?.test;
  if (!tests) return [];
  const test = testOf(tests);
  const name = testName(tests);
  const file = test?.file ?? tests.file;
  const others = (tests.running ?? []).filter((one) => !test || testTitle(one) !== testTitle(test));
  const rows: [string, string | undefined][] = [
    ['name', name && oneLine(name)],
    ['file', file && oneLine(file)],
    ['runner', tests.runner && oneLine(tests.runner)],
    ['state', stateOf(account)],
    ['unfinished', others.length ? unfinishedText(others) : undefined],
  ];
  return keyValues(page, rows);
}

function stateOf({ process, bundle }: Account): string | undefined {
  const tests = process?.test;
  if (tests?.failure) return 'failed';
  if (tests?.isFollowed) return followedState(tests);
  const running = tests?.running?.[0];
  const done = tests?.finished ? `; ${formatCount(tests.finished, 'test')} had finished here` : '';
  if (!running) return tests?.startedBy ? `it started this process${done}` : undefined;
  // A stopped run is told as it was when the stop was decided: writing the bundle takes time of its own.
  const until = tests?.stop?.at ?? bundle?.capturedAt ?? '';
  const ranMs = Date.parse(until) - Date.parse(running.startedAt ?? '');
  return `${ranMs >= 0 ? `running for ${formatDuration(ranMs)}` : 'running'}${done}`;
}

function followedState({ origin }: TestFacts): string {
  if (!origin) return 'which test began it is not known';
  const { beforeMs } = origin.ended ?? {};
  const ended = beforeMs === undefined ? '' : `, and had ended ${formatDuration(beforeMs)} before`;
  return `it began what happened${ended}`;
}

function unfinishedText(others: { name: string[] }[]): string {
  const shown = others.slice(0, mostUnfinished).map(({ name }) => oneLine(name.join(' › ')));
  const more = others.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join('; ');
}
