/**
 * The kind in a bundle's name and the kind of the verdict: one table determines both, for every trigger and every thrown
 * value.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TriggerFacts } from '../../../src/analysis/parts/trigger.ts';
import { reachVerdict } from '../../../src/analysis/verdict/reach-verdict.ts';
import { kindOfTrigger } from '../../../src/bundle/layout/verdict-codes.ts';
import type { InsideKind } from '../../../src/capture/fatal-path/request.ts';
import { hintVerdictKind } from '../../../src/capture/fatal-path/verdict-hint.ts';
import type { ErrorFacts } from '../../../src/model/account.ts';

const thrown: Record<string, () => Error> = {
  'an error': () => new Error('x'),
  'no file left': () => Object.assign(new Error('open'), { code: 'EMFILE', syscall: 'open', errno: -24 }),
  'a read that may come later': () => Object.assign(new Error('read'), { code: 'EAGAIN', syscall: 'read' }),
  'no process left': () => Object.assign(new Error('spawn'), { code: 'EAGAIN', syscall: 'spawn node' }),
  'a child that said too much': () =>
    Object.assign(new Error('spawnSync /bin/sh ENOBUFS'), { code: 'ENOBUFS', syscall: 'spawnSync /bin/sh' }),
  'a missing module': () =>
    Object.assign(new Error("Cannot find module './x'"), { code: 'MODULE_NOT_FOUND' }),
  'one that was caused by it': () =>
    new Error('no plugin', { cause: Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' }) }),
  'a syntax error of a file': () =>
    withStack(new SyntaxError('Unexpected token'), 'wrapSafe (node:internal/modules/cjs/loader:1:1)'),
  'a syntax error of a text': () =>
    withStack(new SyntaxError('Unexpected token'), 'JSON.parse (<anonymous>)', 'load (/app/a.js:1:1)'),
  'a worker out of memory': () => Object.assign(new Error('x'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }),
};

function withStack(error: Error, ...frames: string[]): Error {
  error.stack = `${error.name}: ${error.message}\n${frames.map((frame) => `    at ${frame}`).join('\n')}`;
  return error;
}

function factsOf(error: Error): ErrorFacts {
  const { name, message, stack, cause, code, syscall, errno } = error as NodeJS.ErrnoException & {
    cause?: Error;
  };
  return {
    name,
    message,
    ...(stack !== undefined && { stackText: stack }),
    ...(code !== undefined && { code }),
    ...(cause && { cause: factsOf(cause) }),
    properties: { ...(syscall !== undefined && { syscall }), ...(errno !== undefined && { errno }) },
  };
}

for (const kind of ['uncaught-exception', 'unhandled-rejection'] as const)
  for (const [what, make] of Object.entries(thrown))
    for (const isMainThread of [true, false])
      for (const phase of ['starting', 'at-work', undefined] as const)
        test(`${what}, ${kind}, ${isMainThread ? 'main thread' : 'worker'}, ${phase}`, () => {
          const error = make();
          const circumstances = { endsWorker: !isMainThread, isAtWork: phase === 'at-work' };
          const trigger: TriggerFacts = { kind, isMainThread, handledByHost: false, ...(phase && { phase }) };
          const verdict = reachVerdict({ trigger, account: { error: factsOf(error), gaps: [] } as never });
          assert.equal(hintVerdictKind(kind, error, circumstances), verdict.kind);
        });

for (const kind of Object.keys(kindOfTrigger) as InsideKind[])
  for (const silentMs of [undefined, 2000, 6000]) {
    if (kind === 'stall' && silentMs === undefined) continue;
    const stall =
      silentMs === undefined ? {} : { stall: { silentMs, limitMs: 5000, where: 'javascript' as const } };
    test(`nothing thrown: ${kind}, the loop silent for ${silentMs} ms`, () => {
      const trigger: TriggerFacts = {
        kind,
        isMainThread: true,
        signal: { name: 'SIGTERM' },
        exitCode: 1,
        ...stall,
      };
      const verdict = reachVerdict({ trigger, account: { gaps: [] } as never });
      const circumstances = { endsWorker: false, isAtWork: false, ...stall };
      assert.equal(hintVerdictKind(kind, undefined, circumstances), verdict.kind);
    });
  }
