/** What one part withholds is withheld in those that were written before it, whatever becomes of the search. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withholdFindings } from '../../../src/capture/fatal-path/own-findings.ts';
import { createPolicy } from '../../../src/redaction/policy.ts';

const word = ['Zq7', 'vR2', 'mX9', 'kL4'].join('');

/** A writer that keeps its parts in memory. */
function writerOf(parts: Map<string, string>, dropped: string[]) {
  return {
    get partNames() {
      return [...parts.keys()];
    },
    readBack: (name: string) => Buffer.from(parts.get(name) ?? ''),
    replacePart(name: string, content: string) {
      parts.set(name, content);
      return true;
    },
    countRedactions() {},
    dropPart(name: string) {
      parts.delete(name);
      dropped.push(name);
    },
  };
}

const parts = () =>
  new Map([
    ['error.json', `{"message":"it was ${word}"}`],
    ['sources/1.js', `f("${word}");`],
    ['process.json', '{"pid":7}'],
  ]);

test('a value that a later part withholds is withheld in all', () => {
  const policy = createPolicy({ learns: true });
  policy.argv(['--password', word]);
  const [written, dropped] = [parts(), [] as string[]];
  withholdFindings(writerOf(written, dropped), policy);
  assert.match(written.get('error.json') ?? '', /^\{"message":"it was \[redacted:known-value#\w+\]"\}$/);
  assert.equal(written.get('sources/1.js')?.length, parts().get('sources/1.js')?.length);
  assert.ok(!written.get('sources/1.js')?.includes(word));
  assert.equal(written.get('process.json'), '{"pid":7}');
  assert.deepEqual(dropped, []);
});

test('a part in which the search fails is dropped, and the others are searched', () => {
  const policy = createPolicy({ learns: true });
  policy.argv(['--password', word]);
  const [written, dropped] = [parts(), [] as string[]];
  withholdFindings(writerOf(written, dropped), {
    findings: () => policy.findings(),
    counts: () => policy.counts(),
    resetCounts: () => policy.resetCounts(),
    knownOnly(text, keepsLength) {
      if (text.includes('message')) throw new RangeError('too deep');
      return policy.knownOnly(text, keepsLength);
    },
  });
  assert.deepEqual(dropped, ['error.json']);
  assert.ok(!written.get('sources/1.js')?.includes(word));
});
