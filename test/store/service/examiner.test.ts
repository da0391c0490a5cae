/** What becomes of a thread that examines uploads, and which of its ends are the fault of the file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packBundle } from '../../../src/bundle/finished/pack.ts';
import { judge, Refusal } from '../../../src/store/sending/examine.ts';
import { examineUpload } from '../../../src/store/service/examine-upload.ts';
import { Examiner } from '../../../src/store/service/examiner.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';
import { writeDeath } from '../synth-death.ts';

const examinerOf = (threads = 1) => new Examiner(threads, '../test/store/service/examiner-stub');
const ask = (examiner: Examiner, name: string) =>
  examiner.examine({ path: '', name, mostBytes: 1 }, 1) as Promise<{ refused: string }>;

test('a thread is used again, unless its engine is spent', async () => {
  const examiner = examinerOf();
  const first = await ask(examiner, 'answer');
  assert.deepEqual(await ask(examiner, 'spent'), first);
  assert.notDeepEqual(await ask(examiner, 'answer'), first);
  await examiner.close();
});

test('a thread that ends or fails is no fault of the file, and is replaced', async () => {
  const examiner = examinerOf();
  await assert.rejects(ask(examiner, 'exit'), /ended without an answer/);
  await assert.rejects(ask(examiner, 'fail'), /no reason/);
  const dying = await ask(examiner, 'answer');
  // Its error may arrive before its answer, or after a few more.
  let next = await ask(examiner, 'throw afterwards').catch(() => dying);
  while (next.refused === dying.refused) next = await ask(examiner, 'answer').catch(() => dying);
  assert.match(next.refused, /^\d+$/);
  await examiner.close();
});

test('closing ends what is examined and what waits', async () => {
  const examiner = examinerOf();
  const asked = [ask(examiner, 'never'), ask(examiner, 'never')];
  const ends = Promise.allSettled(asked);
  await examiner.close();
  for (const end of await ends)
    assert.match(end.status === 'rejected' ? String(end.reason) : '', /being stopped/);
  await assert.rejects(ask(examiner, 'answer'), { code: 'unwritable' });
});

test('a bundle that could not be searched is counted and not kept', async (t) => {
  const path = packBundle(writeDeath(temporaryFolder(t))).path;
  const engine = {
    name: '',
    independent: true,
    find: () => Promise.reject(new Error('its search took longer than 1 ms')),
  };
  const examined = await examineUpload({ path, name: '', mostBytes: 1 << 20 }, engine);
  assert.match(
    'unfit' in examined ? (examined.unfit ?? '') : '',
    /could not be searched for secrets: .*longer than 1 ms/,
  );
});

test('what the machine lacks is no fault of a bundle', async () => {
  const lacks = Object.assign(new Error('too many'), { code: 'EMFILE' });
  for (const error of [lacks, new Error('it cannot be opened', { cause: lacks })])
    await assert.rejects(
      judge(() => Promise.reject(error)),
      { code: 'unwritable' },
    );
  await assert.rejects(
    judge(() => Promise.reject(new Error('any'))),
    Refusal,
  );
});
