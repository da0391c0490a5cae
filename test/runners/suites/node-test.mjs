import { beforeEach, describe, it } from 'node:test';
import { dies, passes } from './deaths.mjs';

describe('skipped', () => {
  beforeEach((context) => context.name.includes('by its hook') && context.skip());
  it.skip('is skipped', passes);
  it.todo('is skipped until it is written');
  it.todo('fails as expected', () => {
    throw new Error('expected');
  });
  it('is skipped by its hook', () => {});
  it('is skipped by itself', (context) => context.skip());
});
describe('booking', () => {
  it('finds hotels', passes);
  it('books the cheapest', dies);
});
