/** What a command line adds to the known values: its secrets, and not the path of a program in the home folder, which is shortened. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { learnWords } from '../../../src/supervise/native/core-part.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';

const { HOME } = process.env;
const home = '/home/anna';
process.env['HOME'] = home;
after(() => {
  process.env['HOME'] = HOME;
});

test('the path of a program in the home folder is shortened wherever it stands, and no secret', () => {
  const scrubber = makeScrubber(process.env);
  const words = ['/usr/bin/node', `${home}/shop/server.mjs`, '--token', 'vq8Xn2LmTz5RkY7w'];
  learnWords(words, scrubber);
  assert.equal(scrubber.text(`at run (${home}/shop/server.mjs:3:1)`), 'at run (/home/~/shop/server.mjs:3:1)');
  assert.deepEqual(scrubber.argv(words).slice(0, 3), ['/usr/bin/node', '/home/~/shop/server.mjs', '--token']);
  assert.doesNotMatch(scrubber.text('it was vq8Xn2LmTz5RkY7w'), /vq8Xn2/);
});

test('a path with a secret in it is one', () => {
  const scrubber = makeScrubber(process.env);
  const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  learnWords(['/usr/bin/node', `${home}/${token}/server.mjs`], scrubber);
  assert.doesNotMatch(scrubber.text(`at run (${home}/${token}/server.mjs:3:1)`), /server|ghp_/);
});
