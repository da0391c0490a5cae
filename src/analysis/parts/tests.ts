/** `test.json`, field by field. */
import type { RunningTestFacts, TestFacts } from '../../model/tests.ts';
import { defined, type Fields } from './fields.ts';

const reasons = ['hang', 'job-limit', 'cancelled'] as const;

export function readTests(part: Fields): TestFacts {
  const failure = part.object('failure');
  const startedBy = part.object('startedBy');
  const stop = part.object('stop');
  const origin = part.object('origin');
  const error = failure?.object('error');
  return defined({
    runner: part.text('runner'),
    file: part.text('file'),
    running: part.list('running', readRunning),
    origin: origin && readOrigin(origin),
    isFollowed: part.flag('isFollowed') === true ? true : undefined,
    finished: part.number('finished'),
    failed: part.number('failed'),
    failure: failure && {
      ...readRunning(failure),
      ...defined({
        errorName: error?.text('name'),
        message: error?.text('message'),
        stackText: error?.text('stack'),
      }),
    },
    startedBy: startedBy && readRunning(startedBy),
    stop:
      stop &&
      defined({
        why: stop.oneOf('why', reasons),
        afterMs: stop.number('afterMs'),
        signal: stop.text('signal'),
        at: stop.text('at'),
      }),
  });
}

function readOrigin(origin: Fields): NonNullable<TestFacts['origin']> {
  const ended = origin.object('ended');
  return {
    ...readRunning(origin),
    ...(origin.flag('hook') === true && { hook: true }),
    ...(ended && { ended: defined({ status: ended.text('status'), beforeMs: ended.number('beforeMs') }) }),
  };
}

function readRunning(test: Fields): RunningTestFacts {
  return {
    name: test.texts('name') ?? [],
    ...defined({ file: test.text('file'), startedAt: test.text('startedAt') }),
  };
}
