import { beforeEach, describe, it } from 'vitest';
import { dies, passes } from './deaths.mjs';

describe('skipped', () => {
  beforeEach(({ skip, task }) => task.name.includes('by its hook') && skip());
  it.skip('is skipped', passes);
  it.todo('is skipped until it is written');
  it.fails('fails as expected', () => {
    throw new Error('expected');
  });
  it('is skipped by its hook', () => {});
  it('is skipped by itself', ({ skip }) => skip());
});
describe('booking', () => {
  it('finds hotels', passes);
  it('books the cheapest', dies, 600_000);
});
