/** Members of a redacted heap: they come back in order and unchanged, from memory and from a file without a name. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { MemberSpool } from '../../src/supervise/scrub/member-spool.ts';

test('what does not fit into memory comes back from a file that has no name', () => {
  const spool = new MemberSpool();
  const members = Array.from({ length: 24 }, (_, i) => new Uint8Array((1 << 20) + i).fill(i));
  for (const member of members) spool.add(member);
  assert.equal(
    readdirSync(tmpdir()).some((name) => name.startsWith(`agentdump-heap-${process.pid}-`)),
    false,
  );
  let count = 0;
  for (const member of spool.take()) {
    assert.deepEqual(Buffer.compare(member, members[count]!), 0, `member ${count}`);
    count++;
  }
  assert.equal(count, members.length);
  assert.deepEqual([...spool.take()], []);
});

test('a member that comes after the end is not kept', () => {
  const spool = new MemberSpool();
  spool.close();
  spool.add(new Uint8Array(8));
  assert.deepEqual([...spool.take()], []);
});
