/** Tools that the model asked for and whose run was not recorded, but may be on the stack. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRequestedOnStack } from '../../../src/analysis/verdict/in-flight.ts';
import type { Account } from '../../../src/model/account.ts';

const seen = 'whose run was not recorded; a function of its name is on the stack';

/** What is said of the tool when these functions are on the stack. */
function saidOf(tool: string, functions: (string | undefined)[]): string | undefined {
  const frames = functions.map((name) => ({
    ...(name !== undefined && { function: name }),
    file: '/app/a.js',
    inApp: true,
    trust: 'stack-text',
  }));
  const runs = [{ requested: [`tool ${tool} (call_1), asked for 2 s before the end, not seen to run`] }];
  const account = { error: { frames }, agent: { runs } } as unknown as Account;
  findRequestedOnStack(account);
  return account.agent?.runs[0]?.requested?.[0]?.split(', ').at(-1);
}

test('a function of the name of the tool is on the stack', () => {
  assert.equal(saidOf('search', [undefined, 'search']), seen);
  assert.equal(saidOf('search', ['Tools.search']), seen);
  assert.equal(saidOf('get-weather', ['Object.get-weather']), seen);
  assert.equal(saidOf('github.search', ['Object.github.search']), seen);
});

test('none is, if the functions have no name, or that of another', () => {
  for (const tool of ['search', 'get-weather', 'github.search', 'two words'])
    for (const name of [undefined, '', 'research', 'weather', 'words', 'search.of'])
      assert.equal(saidOf(tool, [name]), 'not seen to run', `${tool}: ${name}`);
});
