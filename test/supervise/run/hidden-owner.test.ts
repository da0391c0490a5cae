/**
 * Containers may share /dev/shm without seeing each other: a sweep in one must not remove anything of a process that lives in
 * another. The tests have a /dev/shm of their own, so that they touch nothing of other processes.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const inside = 'mount -t tmpfs none /dev/shm && exec "$@"';
const enter = ['-m', 'sh', '-c', inside, 'sh'];
const skip = spawnSync('unshare', [...enter, 'unshare', '-pf', '--mount-proc', 'true']).status !== 0;

function inOwnShm(context: TestContext, script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-hidden-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'script.sh'), script);
  return spawnSync('unshare', [...enter, 'sh', 'script.sh'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE: process.execPath, AGENTDUMP_BIN: agentdump, NODE_OPTIONS: '' },
  });
}

const wait = 'until [ -e started ]; do sleep 0.05; done';

test('a sweep in another pid namespace leaves the folder of a living supervisor', { skip }, (context) => {
  const { stdout, stderr, status } = inOwnShm(
    context,
    `"$NODE" "$AGENTDUMP_BIN" run --dir d -- sh -c 'touch started; until [ -e done ]; do sleep 0.05; done' &
${wait}
ls /dev/shm
unshare -pf --mount-proc "$NODE" "$AGENTDUMP_BIN" sweep --dir other >&2
ls /dev/shm
touch done; wait $!`,
  );
  const [before, after, ...more] = stdout.trim().split('\n');
  assert.match(before ?? '', /^agentdump-[0-9a-f]{16}$/, stderr);
  assert.deepEqual([after, more, status], [before, [], 0], stderr);
});

/** Only the initial pid namespace can tell that another namespace is gone. */
const isFirst = readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]';

test('who was killed in a namespace that is gone leaves nothing', { skip: skip || !isFirst }, (context) => {
  const { stdout, stderr } = inOwnShm(
    context,
    `unshare -pf --mount-proc sh -c '"$NODE" "$AGENTDUMP_BIN" run --dir d -- sh -c "touch started; sleep 1000" & ${wait}; kill -9 $!'
ls /dev/shm
"$NODE" "$AGENTDUMP_BIN" sweep --dir other >&2
ls /dev/shm`,
  );
  assert.match(stdout, /^agentdump-[0-9a-f]{16}\n$/, stderr);
});
