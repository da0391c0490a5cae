/** The preload's settings: what is accepted, what causes a warning, and that variables and options follow the same rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Config, type InstallOptions, readConfig } from '../../../src/capture/install/config.ts';

function read(environment: Record<string, string>, options: unknown = {}) {
  const warnings: string[] = [];
  const config = readConfig(environment, options as InstallOptions, (text) => warnings.push(text));
  return { config, warnings };
}

const defaults = read({}).config;

test('nothing said: the defaults, and no warning', () => {
  const { config, warnings } = read({});
  assert.deepEqual(warnings, []);
  assert.deepEqual(
    [config.enabled, config.dir, config.signals, config.snapshotSignal, config.heap, config.hangMs],
    [true, '.agentdump', ['SIGTERM', 'SIGHUP', 'SIGQUIT'], undefined, 'auto', 5000],
  );
  assert.deepEqual([config.maxBundles, config.maxBytes, config.memoryPercent], [20, 2 * 1024 ** 3, 70]);
  assert.deepEqual([config.recipient, config.allow, config.deny], [undefined, [], []]);
});

test('AGENTDUMP: what people write for off is off, and a word that is neither is warned of', () => {
  for (const text of ['off', 'OFF', '0', 'false', 'no'])
    assert.deepEqual(
      [read({ AGENTDUMP: text }).config.enabled, read({ AGENTDUMP: text }).warnings],
      [false, []],
    );
  for (const text of ['on', '1', 'true', 'yes', ''])
    assert.deepEqual(
      [read({ AGENTDUMP: text }).config.enabled, read({ AGENTDUMP: text }).warnings],
      [true, []],
    );
  const { config, warnings } = read({ AGENTDUMP: 'banana' });
  assert.equal(config.enabled, true);
  assert.deepEqual(warnings, ['AGENTDUMP is not one of on, off; using on']);
});

/** Each valid value, as a variable and as an option. */
const good: [keyof Config & keyof InstallOptions, string, unknown, unknown][] = [
  ['dir', '/var/dumps', '/var/dumps', '/var/dumps'],
  ['signals', 'SIGINT, term', ['SIGINT', 'SIGTERM'], ['SIGINT', 'SIGTERM']],
  ['signals', 'none', [], []],
  ['snapshotSignal', 'usr1', 'SIGUSR1', 'SIGUSR1'],
  ['snapshotSignal', 'off', 'off', undefined],
  ['heap', 'ALWAYS', 'always', 'always'],
  ['heapStrings', 'clean', 'clean', 'clean'],
  ['locals', 'uncaught', 'uncaught', 'uncaught'],
  ['captureLlm', 'metadata', 'metadata', 'metadata'],
  ['captureHttp', 'content', 'content', 'content'],
  ['handles', 'stacks', 'stacks', 'stacks'],
  ['logs', 'off', 'off', 'off'],
  ['progressMs', '1500', 1500, 1500],
  ['hangMs', '0', 0, 0],
  ['memoryPercent', '100', 100, 100],
  ['maxBundles', '3', 3, 3],
  ['maxBytes', '2G', 2 * 1024 ** 3, 2 * 1024 ** 3],
  ['maxBytes', '500MB', '500MB', 500 * 1024 ** 2],
  ['allow', 'ONE, TWO', ['ONE', 'TWO'], ['ONE', 'TWO']],
  ['deny', 'ONE', 'ONE', ['ONE']],
  ['recipient', 'age1x', 'age1x', 'age1x'],
];

for (const [name, text, option, value] of good)
  test(`${variableOf(name)}=${text}, and the option ${name}`, () => {
    for (const { config, warnings } of [read({ [variableOf(name)]: text }), read({}, { [name]: option })]) {
      assert.deepEqual(config[name], value);
      assert.deepEqual(warnings, []);
    }
  });

/** Each invalid value, and a piece of the warning. */
const bad: [keyof Config & keyof InstallOptions, string, unknown, RegExp][] = [
  ['signals', 'SIGFOO', ['SIGFOO'], /names "SIGFOO", .*; using SIGTERM,SIGHUP,SIGQUIT$/],
  ['signals', 'SIGKILL', 'SIGKILL', /no signal that can be caught/],
  ['snapshotSignal', 'nope', 'nope', /"nope", .*; using off$/],
  ['heap', 'maybe', 7, /is not one of off, pressed, auto, always; using auto$/],
  ['heapStrings', 'x', {}, /using names$/],
  ['locals', 'x', true, /using off$/],
  ['captureLlm', 'x', [], /using content$/],
  ['progressMs', '5s', '5s', /is not a number from 0 to 2147483647; using 0$/],
  ['hangMs', '-3', -3, /is not a number from 0 to 2147483647; using 5000$/],
  ['hangMs', '99999999999', Number.POSITIVE_INFINITY, /using 5000$/],
  ['memoryPercent', '150', 150, /is not a number from 0 to 100; using 70$/],
  ['maxBundles', 'x', Number.NaN, /is not a number; using 20$/],
  ['maxBytes', '2 parsecs', {}, /is not a number \(K, M and G may follow it\); using 2147483648$/],
];

for (const [name, text, option, warning] of bad)
  test(`a bad ${name} is a warning and the default`, () => {
    for (const { config, warnings, by } of [
      { ...read({ [variableOf(name)]: text }), by: variableOf(name) },
      { ...read({}, { [name]: option }), by: `install's ${name}` },
    ]) {
      assert.deepEqual(config[name], defaults[name]);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', warning);
      assert.ok(warnings[0]?.startsWith(`${by} `), warnings[0]);
    }
  });

test('options of another type altogether: a warning each, and the default', () => {
  const { config, warnings } = read({}, { dir: 5, allow: 7, deny: [7], recipient: {} });
  assert.deepEqual(
    [config.dir, config.allow, config.deny, config.recipient],
    ['.agentdump', [], [], undefined],
  );
  assert.equal(warnings.length, 4);
});

test('no options object, and options without a value, are none', () => {
  assert.deepEqual(read({}, null).config, defaults);
  assert.deepEqual(read({}, { heap: undefined, hangMs: null }).config, defaults);
});

test('an empty variable is as good as none', () => {
  const names = ['AGENTDUMP_DIR', 'AGENTDUMP_SIGNALS', 'AGENTDUMP_HANG_MS', 'AGENTDUMP_MAX_BYTES'];
  const { config, warnings } = read(Object.fromEntries(names.map((name) => [name, ' '])));
  assert.deepEqual(config, defaults);
  assert.deepEqual(warnings, []);
});

test('of several signals the ones that are none are left out', () => {
  const { config, warnings } = read({ AGENTDUMP_SIGNALS: 'SIGTERM,SIGSTOP' });
  assert.deepEqual(config.signals, ['SIGTERM']);
  assert.match(warnings.join('\n'), /^AGENTDUMP_SIGNALS names "SIGSTOP", .*; ignored$/);
});

test('an option goes before its variable', () => {
  assert.equal(read({ AGENTDUMP_HEAP: 'always' }, { heap: 'off' }).config.heap, 'off');
});

function variableOf(name: string): string {
  return `AGENTDUMP_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
