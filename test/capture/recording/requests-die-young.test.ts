/** What a busy server's requests refer to is freed by V8's small collections, as without us, and does not wait for one of the whole heap. */
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CausalContext } from '../../../src/agent/record/causal-context.ts';
import { watchRequests } from '../../../src/capture/recording/request-watch.ts';

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;

test('answered requests die young, also of a server that is never without one', (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;
  const requests = watchRequests({ context: 'off' }, new CausalContext());
  t.after(() => requests.undo());
  const begun = channel('http.server.request.start');
  const ended = channel('http.server.response.finish');
  const open = new Array<object | undefined>(20).fill(undefined);
  /** Each request refers to 2 KB; twenty are open at any time. */
  const serve = (count: number): void => {
    for (let n = 1; n <= count; n++) {
      const response = { body: new Array(256).fill(n) };
      begun.publish({ request: { method: 'GET' }, response });
      const answered = open[n % 20];
      if (answered) ended.publish({ response: answered });
      open[n % 20] = response;
      if (n % 400 === 0) collect({ type: 'minor' });
    }
  };
  serve(2_000);
  collect({ type: 'major' });
  const before = oldBytes();
  serve(16_000);
  assert.equal(requests.count, 18_000);
  // 7 to 16 MB if they survive.
  const grownMb = (oldBytes() - before) / 2 ** 20;
  assert.ok(grownMb < 2, `${grownMb.toFixed(1)} MB`);
});
