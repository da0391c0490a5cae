/**
 * `agentdump bisect` with a hostile recording, bundle or repository: it reports the fault and stops, runs nothing that they
 * name, leaves no work tree behind, and prints no terminal control sequences.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bin, command, hostile, moving } from '../support/hostile/stranger.ts';
import { recordingHead } from '../support/hostile/synth-bundle-hostile-newer.ts';
import { onlyWide, sampleOf } from '../support/run/test-nodes.ts';

const scratch = mkdtempSync(join(tmpdir(), 'agentdump-stranger-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const proof = join(scratch, 'proof');
const writesProof = `require('fs').writeFileSync(${JSON.stringify(proof)}, 'run')`;
const evil = '\x1b[2J\u202e::set-output name=x::y';

const repo = join(scratch, 'repo');
/** Where a search creates its work trees. */
const temporary = join(scratch, 'tmp');
mkdirSync(repo);
mkdirSync(temporary);
const git = (...words: string[]) => execFileSync('git', words, { cwd: repo, encoding: 'utf8' }).trim();
git('init', '-q');
git('config', 'user.email', 'test@example.org');
git('config', 'user.name', `Eve ${evil}`);
const commits = ['// one', '// two', '// three'].map((text) => {
  writeFileSync(join(repo, 'agent.js'), `${text}\nprocess.exitCode = 0;\n`);
  git('add', '.');
  git('commit', '-q', '-m', `${text} ${evil}`);
  return git('rev-parse', 'HEAD');
});
const good = commits[0] ?? assert.fail('no commit');

function bisect(words: string[], cwd = repo) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [bin, 'bisect', ...words], {
    encoding: 'utf8',
    cwd,
    env: { PATH: process.env['PATH'], HOME: scratch, TMPDIR: temporary, NO_COLOR: '1' },
    timeout: 60_000,
  });
  const said = stdout + stderr;
  assert.equal(signal, null, `${words.join(' ')} had not ended after a minute`);
  assert.doesNotMatch(said, moving, words.join(' '));
  assert.doesNotMatch(said, command, words.join(' '));
  assert.doesNotMatch(said, /internal error/i, words.join(' '));
  assert.ok(!existsSync(proof), `${words.join(' ')} ran what it should not`);
  assert.equal(git('worktree', 'list').split('\n').length, 1);
  assert.deepEqual(readdirSync(temporary), []);
  return { status, said };
}

const agent = ['--', process.execPath, 'agent.js'];

for (const name of sampleOf(readdirSync(join(hostile, 'recording')).sort(), 8))
  test(`the recording ${name}`, () => {
    const [file = name] = readdirSync(join(hostile, 'recording', name), { recursive: true })
      .map(String)
      .filter((one) => one.endsWith('.json'))
      .map((one) => join(hostile, 'recording', name, one));
    const { status, said } = bisect([file, '--good', good, ...agent]);
    assert.ok(status === 2 || status === 3, `${status}: ${said}`);
  });

for (const [format, fault] of [
  ['manifest', undefined],
  ['packed', undefined],
  ['agent', 'terminal-escapes'],
  ['agent', 'nested-50000-deep'],
  ['journal', undefined],
  ['encrypted', undefined],
] as const)
  test(`a bundle of ${format}${fault ? `, ${fault}` : ''}`, () => {
    const name = fault ?? readdirSync(join(hostile, format)).sort()[0] ?? assert.fail('no fault');
    const { status, said } = bisect([join(hostile, format, name), '--good', good, ...agent]);
    assert.ok(status === 2 || status === 3, `${status}: ${said}`);
  });

test('a folder that is no bundle, a folder without a repository, and a repository without a commit', {
  skip: onlyWide,
}, () => {
  const recording = writeRecording({});
  for (const target of [scratch, '/', '/dev/full', join(scratch, 'none')])
    assert.match(String(bisect([target, '--good', good, ...agent]).status), /^[23]$/);
  const empty = join(scratch, 'empty');
  mkdirSync(empty);
  assert.equal(bisect([recording, '--good', good, ...agent], empty).status, 2);
  execFileSync('git', ['init', '-q'], { cwd: empty });
  assert.equal(bisect([recording, '--good', 'HEAD', ...agent], empty).status, 2);
});

test('revisions that are options, commands, patterns or far too long', { skip: onlyWide }, () => {
  const recording = writeRecording({});
  for (const words of [
    [`--good=--upload-pack=node -e "${writesProof}"`],
    ['--good=--git-dir=/etc'],
    ['--good=-n1'],
    [`--good=$(touch ${proof})`],
    [`--good=x; touch ${proof}`],
    ['--good=:/(a+)+$'],
    ['--good=HEAD:agent.js'],
    [`--good=${evil}`],
    [`--good=${'a'.repeat(100_000)}`],
    [`--good=${good}`, '--bad=--help'],
    [`--good=${good}`, '--bad=HEAD^{/(x+x+)+y}'],
    [`--good=${good}`, '--bad='],
  ])
    assert.equal(bisect([recording, ...words, ...agent]).status, 2, words.join(' ').slice(0, 80));
});

test('the program is the one given, or one of this project: never what the recording says', {
  skip: onlyWide,
}, () => {
  const away = join(scratch, 'away.js');
  writeFileSync(away, writesProof);
  for (const argv of [['node', '-e', writesProof], ['node', away], ['node', '../away.js'], [away], []]) {
    const { status } = bisect([writeRecording({ argv }), '--good', good]);
    assert.equal(status, 2, argv.join(' '));
  }
});

test('subjects and authors of commits are text', () => {
  const { status, said } = bisect([writeRecording({}), '--good', good, ...agent]);
  assert.equal(status, 2, said);
  assert.match(said, /said to be bad/);
  assert.match(said, /three/);
});

function writeRecording(changes: object): string {
  const file = join(scratch, 'crash.recording.json');
  writeFileSync(file, JSON.stringify({ ...recordingHead, title: evil, ...changes }));
  return file;
}
