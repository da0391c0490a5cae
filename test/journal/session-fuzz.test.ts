/** Any file as a session's: it yields facts or a MalformedInput, and the fields of the facts have their types. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { MalformedInput } from '../../src/errors.ts';
import { classifySession, readSession } from '../../src/journal/read/session.ts';
import { fuzzRuns } from '../support/run/fuzz-runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-session-'));
after(() => rmSync(folder, { recursive: true }));

const fields = fc.constantFrom(
  'id',
  'process',
  'program',
  'startedAt',
  'command',
  'cwd',
  'nodeVersion',
  'bundle',
);
const inner = fc.constantFrom('pid', 'parentPid', 'startTicks', 'bootId', '__proto__');
const leaf = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const branch = fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(inner, leaf, { maxKeys: 5 }));
/** The contents of a valid session file; at most one field is then replaced. */
const whole = {
  schema: 'agentdump.session',
  version: 1,
  id: '0123456789abcdef',
  state: 'alive',
  process: { pid: 4_194_000 },
  memory: {},
  program: 'x',
  command: ['x'],
  cwd: '/',
  nodeVersion: 'v20.0.0',
  startedAt: '2026-01-01T00:00:00Z',
  heartbeatMs: 1000,
};
let read = 0;
const document = fc.oneof(
  fc.dictionary(fields, branch, { maxKeys: 1 }).map((value) => JSON.stringify({ ...whole, ...value })),
  fc.dictionary(fields, branch, { maxKeys: 8 }).map((value) => JSON.stringify(value)),
  fc.json(),
  fc.string(),
);

test('any session.json is read or refused by name', () => {
  fc.assert(
    fc.property(document, (text) => {
      writeFileSync(join(folder, 'session.json'), text);
      try {
        const facts = readSession(folder);
        read += 1;
        assert.equal(typeof facts.id, 'string');
        assert.equal(typeof facts.program, 'string');
        assert.ok(Number.isInteger(facts.process.pid));
        assert.ok(Array.isArray(facts.command));
        classifySession(folder, facts);
      } catch (error) {
        assert.ok(error instanceof MalformedInput, String(error));
      }
    }),
    { numRuns: fuzzRuns(1500), seed: 8 },
  );
  assert.ok(read > 50, `${read} were whole`);
});
