/** The behaviour of the command line: exit codes, streams, closed pipes. The commands here are stand-ins for real ones. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../src/cli/main.ts';
import type { CommandEntry } from '../../src/cli/registry.ts';
import { AgentdumpError } from '../../src/errors.ts';

const command = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
let loaded: string[] = [];
let seen: unknown;
const table: CommandEntry[] = ['first', 'second'].map((name) => ({
  name,
  describe: `the ${name}`,
  load: async () => {
    loaded.push(name);
    return {
      default: {
        command: `${name} <path>`,
        describe: `the ${name}`,
        builder: { deep: { type: 'boolean' } },
        handler: (argv: Record<string, unknown>) => {
          if (argv['path'] === 'bad') throw new AgentdumpError('not-a-bundle', 'no bundle at bad');
          seen = argv['path'];
        },
      },
    };
  },
}));
const fails = (words: string[], code: string, message: RegExp) =>
  assert.rejects(runCommandLine(words, table), (error: AgentdumpError) => {
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

test('only the command that runs is loaded', async () => {
  loaded = [];
  await runCommandLine(['second', 'here', '--deep'], table);
  assert.deepEqual(loaded, ['second']);
  assert.equal(seen, 'here');
});

test('wrong words are usage errors', async () => {
  await fails([], 'usage', /command is missing/);
  await fails(['third'], 'usage', /^there is no command third$/);
  await fails(['frist'], 'usage', /^there is no command frist; did you mean first\?$/);
  await fails(['latest'], 'usage', /^there is no command latest; did you mean agentdump analyze latest\?$/);
  await fails(['first'], 'usage', /^the argument <path> is missing: agentdump \w+ <path>$/);
  await fails(['--wide'], 'usage', /^there is no option --wide$/);
  await fails(
    ['--deep', '2', 'first', 'a b'],
    'usage',
    /^options come after the command: agentdump first --deep 2 'a b'$/,
  );
  await fails(['first', '--dep', 'x'], 'usage', /^there is no option --dep; did you mean --deep\?$/);
  await fails(['first', '--wide', 'x'], 'usage', /^there is no option --wide$/);
  await fails(['first', 'x', '--wide=2'], 'usage', /^there is no option --wide=2$/);
  await fails(['first', '--no-deep'], 'usage', /^the argument <path> is missing: agentdump \w+ <path>$/);
  await fails(['first', 'x', 'y'], 'usage', /^one argument too many, y: agentdump \w+ <path>$/);
  await fails(['first', 'x', 'y', 'z'], 'usage', /^too many arguments, y, z: /);
  await fails(['first', 'x', 'y, z'], 'usage', /^one argument too many, y, z: /);
});

test('what a command throws comes out as it is', () => fails(['first', 'bad'], 'not-a-bundle', /no bundle/));

test('the completion script is that of the shell that is named, whatever shell runs it', async () => {
  const script = (shell: string, own: string) =>
    spawnSync(process.execPath, [command, 'completion', shell], {
      encoding: 'utf8',
      env: { ...process.env, SHELL: own, ZSH_NAME: own },
    }).stdout;
  assert.match(script('zsh', '/bin/bash'), /^#compdef agentdump/);
  assert.match(script('bash', '/bin/zsh'), /^###-begin-agentdump[\s\S]*complete -o bashdefault/);
  await fails(
    ['completion', 'tcsh'],
    'usage',
    /^there is no completion script for tcsh, only for bash and zsh$/,
  );
});
