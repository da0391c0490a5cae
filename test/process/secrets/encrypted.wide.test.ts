/** With a recipient only age files reach the disk; if none can be written, there is no bundle and one line says why. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { type Keys, readIdentities } from '../../../src/bundle/read/age.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn, type TestNode, testNodes } from '../../support/run/test-nodes.ts';
import { type Outcome, preload, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const keys = { identities: readIdentities(identity) };
/** A different last letter, which is also in the Bech32 alphabet. */
const misspelt = recipient.slice(0, -1) + (recipient.endsWith('x') ? 'q' : 'x');
const passphrase = ['nine', 'horses', 'rest', String(Math.random()).slice(2)].join('-');

/** Dies with this recipient; returns the outcome and the contents of the dump folder. */
async function die(
  node: TestNode,
  dir: string,
  value: string,
): Promise<{ outcome: Outcome; names: string[] }> {
  const env = { AGENTDUMP_RECIPIENT: value };
  const outcome = await runVictim(
    node,
    { file: 'throws/throw-sync.cjs', bundles: [] },
    { preload: true, dir, env },
  );
  const dumps = join(dir, 'dumps');
  return { outcome, names: existsSync(dumps) ? readdirSync(dumps).sort() : [] };
}

/** Expects one age file, and the two files that contain only hashes; returns the parts as one text. */
function readEncrypted(dir: string, names: string[], opening: Keys): string {
  const [bundle = '', ...others] = names;
  assert.match(bundle, /-throw-sync-uncaught-exception-[0-9a-f]{8}\.agentdump\.zip\.age$/);
  assert.deepEqual(others, ['ledger', 'signatures.log']);
  const reader = openBundle(join(dir, 'dumps', bundle), opening);
  assert.ok(reader.sealed && reader.parts.length >= 10);
  const text = reader.parts.map((part) => reader.readPart(part.name)?.toString()).join('\n');
  reader.close();
  return text;
}

for (const node of nodesInTurn)
  describe(node.name, () => {
    test('a recipient', async (t) => {
      const dir = temporaryFolder(t);
      const { outcome, names } = await die(node, dir, recipient);
      const text = readEncrypted(dir, names, keys);
      assert.match(text, /"AGENTDUMP_RECIPIENT":\{"value":"\[redacted:known-value#/);
      assert.ok(!text.includes(recipient));
      const [line = '', ...more] = outcome.ownLines;
      assert.deepEqual(more, []);
      assert.match(
        line,
        /\.agentdump\.zip\.age \(\d+ ms\); read it with: agentdump analyze latest --identity FILE$/,
      );
      const clear = readFileSync(join(dir, 'dumps', names[0] ?? '')).toString('latin1');
      assert.ok(!clear.includes('trigger.json') && !clear.includes('PK\x05\x06\0\0\0\0'));
    });

    test('a passphrase, which is then in no part', async (t) => {
      const dir = temporaryFolder(t);
      const { outcome, names } = await die(node, dir, `passphrase:${passphrase}`);
      const text = readEncrypted(dir, names, { identities: [], passphrase });
      assert.ok(!text.includes(passphrase));
      assert.match(outcome.ownLines[0] ?? '', /--passphrase-file FILE$/);
    });

    for (const [what, value, reason] of [
      ['is misspelt', misspelt, /misspelt/],
      ['names a file that is not there', '/nowhere/recipients.txt', /ENOENT/],
    ] as const)
      test(`a recipient that ${what}: two lines, the same death, no bundle`, async (t) => {
        const dir = temporaryFolder(t);
        const { outcome, names } = await die(node, dir, value);
        const victim = { file: 'throws/throw-sync.cjs', bundles: [] };
        const bare = await runVictim(node, victim, { preload: false, dir });
        assert.deepEqual({ ...outcome, ownLines: [] }, bare);
        assert.deepEqual(names, []);
        assert.equal(outcome.ownLines.length, 2, outcome.ownLines.join('\n'));
        assert.match(
          outcome.ownLines[0] ?? '',
          /AGENTDUMP_RECIPIENT is not an age recipient: .*no bundle will be/,
        );
        assert.match(outcome.ownLines[1] ?? '', /no bundle: not an age recipient/);
        for (const line of outcome.ownLines) assert.match(line, reason);
      });
  });

const noAge = spawnSync('age', ['--version']).error ? 'no age here' : false;

test('Debian’s age opens what a death has left', { skip: noAge }, async (t) => {
  const dir = temporaryFolder(t);
  const { names } = await die(testNodes.at(-1) ?? assert.fail('no Node'), dir, recipient);
  writeFileSync(join(dir, 'key.txt'), identity);
  const words = [
    '-d',
    '-i',
    join(dir, 'key.txt'),
    '-o',
    join(dir, 'clear.agentdump.zip'),
    join(dir, 'dumps', names[0] ?? ''),
  ];
  execFileSync('age', words);
  const reader = openBundle(join(dir, 'clear.agentdump.zip'));
  assert.ok(reader.sealed && reader.readJson('error.json'));
  reader.close();
});

test('a file of recipients is read at the start, wherever the program goes later', async (t) => {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'recipients.txt'), `# the security team\n${recipient}\n`);
  writeFileSync(join(dir, 'moves.cjs'), "process.chdir('/'); throw new Error('elsewhere');");
  const victim = { file: 'throws/throw-sync.cjs', flags: [join(dir, 'moves.cjs')], bundles: [] };
  const node = testNodes.at(-1) ?? assert.fail('no Node');
  const env = { AGENTDUMP_RECIPIENT: 'recipients.txt' };
  const outcome = await runVictim(node, victim, { preload: true, dir, env });
  assert.match(outcome.ownLines[0] ?? '', /-moves-uncaught-exception-.*\.age /);
});

test('the option of install()', async (t) => {
  const dir = temporaryFolder(t);
  const text = `require(${JSON.stringify(preload)}).install({ recipient: ${JSON.stringify(recipient)} }); throw new Error('x');`;
  writeFileSync(join(dir, 'installs.cjs'), `globalThis[Symbol.for('agentdump.loadOnly')] = true; ${text}`);
  const victim = { file: 'throws/throw-sync.cjs', flags: [join(dir, 'installs.cjs')], bundles: [] };
  const outcome = await runVictim(testNodes.at(-1) ?? assert.fail('no Node'), victim, {
    preload: false,
    dir,
  });
  assert.match(outcome.ownLines[0] ?? '', /-installs-uncaught-exception-.*\.age /);
});
