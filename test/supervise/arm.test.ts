/** What the supervisor adds to the program's environment, and what it leaves unchanged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { armEnvironment, armNodeOptions, preloadFile, testsPreloadFile } from '../../src/supervise/arm.ts';
import { nameOfCommand, splitCommand } from '../../src/supervise/run/command-name.ts';

test('given options stay first and as they are', () => {
  const options = armNodeOptions('--max-old-space-size=99 --require "/a b/c.js"', '/dev/shm/x', preloadFile);
  assert.match(options, /^--max-old-space-size=99 --require "\/a b\/c\.js" --require \S+register\.cjs /);
  assert.match(options, / --report-on-fatalerror --report-directory=\/dev\/shm\/x$/);
});

test('who loads us already, or wants reports elsewhere, is left alone', () => {
  assert.equal(
    armNodeOptions('--require=agentdump/register', undefined, preloadFile),
    '--require=agentdump/register',
  );
  assert.equal(armNodeOptions('--report-dir=/r', '/dev/shm/x', undefined), '--report-dir=/r');
  const tests = `--require ${testsPreloadFile}`;
  assert.equal(armNodeOptions(tests, undefined, preloadFile), tests);
  assert.equal(armNodeOptions(tests, undefined, testsPreloadFile), tests);
});

test('a path with spaces, quotes and backslashes is quoted for NODE_OPTIONS', () => {
  assert.equal(
    armNodeOptions(undefined, '/tmp/a "b" \\c', undefined),
    '--report-on-fatalerror --report-directory="/tmp/a \\"b\\" \\\\c"',
  );
});

test("escalation never overrides the user's own setting", () => {
  const arming = {
    dir: '/d',
    sessionId: 's',
    diagnostics: undefined,
    extra: { AGENTDUMP_LOCALS: 'uncaught' },
  };
  assert.equal(armEnvironment({ AGENTDUMP_LOCALS: 'off' }, arming)['AGENTDUMP_LOCALS'], 'off');
  assert.equal(armEnvironment({}, arming)['AGENTDUMP_LOCALS'], 'uncaught');
});

test('a program is named by its script; code on the command line names nothing', () => {
  const names: [string, string][] = [
    ['node /srv/agent.mjs --x', 'agent'],
    ['/usr/bin/node -r dotenv/config --inspect app/agent/server.ts', 'agent'],
    ['node -e secret', 'node'],
    ['node --eval=secret', 'node'],
    ['npm run start', 'npm'],
    ['./tool.sh', 'tool.sh'],
    // How Node's own test runner starts a file, since Node 22.
    ['/opt/bin/node --test-isolation=process --stack-trace-limit=10 plan.test.mjs', 'plan.test'],
  ];
  for (const [line, name] of names) assert.equal(nameOfCommand(line.split(' ')), name, line);
  assert.equal(nameOfCommand(['node', 'server.js'], '/srv/planner'), 'planner');
});

test('a command line is told as Node would tell it to the program', () => {
  const lines: [string, string, string][] = [
    ['node --max-old-space-size=60 app.js --port 1', '--max-old-space-size=60', 'node /srv/app.js --port 1'],
    ['node -r dotenv/config --inspect /opt/app.js', '-r dotenv/config --inspect', 'node /opt/app.js'],
    ['node -e code one two', '-e code', 'node one two'],
    ['node --eval=code one', '--eval=code', 'node one'],
    ['node - one', '', 'node - one'],
    ['node', '', 'node'],
    ['npm run start', '', 'npm run start'],
  ];
  for (const [line, execArgv, argv] of lines)
    assert.deepEqual(
      splitCommand(line.split(' '), '/srv'),
      { argv: argv.split(' '), execArgv: execArgv.split(' ').filter(Boolean) },
      line,
    );
});
