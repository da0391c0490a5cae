/** Conversations that are never cut, held by three third-party libraries: the tool results are named. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openHeap } from '../../../src/analysis/memory/heap.ts';
import { computeSuspects } from '../../../src/analysis/memory/suspects/suspects.ts';
import { startMockModelServer } from '../../support/agents/mock-model-server.ts';
import { usualNode } from '../../support/run/test-nodes.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';

const agents = fileURLToPath(new URL('../../agents/', import.meta.url));
const skip = !existsSync(join(agents, 'node_modules', 'openai')) && 'npm ci --prefix test/agents';

for (const library of ['openai', 'langchain', 'ai'])
  test(`${library}: so much of the heap is tool results of read_file`, { skip }, async (t) => {
    const out = join(temporaryFolder(t), 'heap.heapsnapshot');
    const server = await startMockModelServer((_, at) =>
      at % 2
        ? { text: 'It is a file.' }
        : { toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] },
    );
    try {
      const child = spawn(usualNode.path, [join(agents, 'long-conversations.mjs'), library, out], {
        stdio: 'ignore',
        env: { ...process.env, MODEL_URL: server.url },
      });
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    } finally {
      await server.close();
    }
    const suspects = computeSuspects(await openHeap(out));
    const sentences = suspects.map(({ sentence }) => sentence).join('\n');
    assert.match(
      suspects.find(({ rule }) => rule === 'tool-results')?.sentence ?? sentences,
      /^\d\d % of the heap \(.* MiB\) is 25\d tool results of read_file retained by global\.session\.messages\[\*\]/,
    );
    assert.match(
      suspects.find(({ rule }) => rule === 'conversations')?.sentence ?? sentences,
      /1,000 messages in one conversation retained by global\.session\.messages:/,
    );
    assert.deepEqual(
      suspects
        .filter(({ rule }) => !/^(?:tool-results|conversations|large-class)$/.test(rule))
        .map(({ title }) => title),
      [],
    );
  });
