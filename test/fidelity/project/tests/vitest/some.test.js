import { expect, test, vi } from 'vitest';
import { area } from '../../src/es/shapes.mjs';
test('computes', () => expect(area({ kind: 'square', side: 2 })).toBe(4));
test('fails', () => expect(area({ kind: 'square', side: 2 })).toBe(5));
test('spies', () => {
  const spy = vi.spyOn(console, 'log').mockImplementation(() => {});
  console.log('hidden');
  expect(spy).toHaveBeenCalledWith('hidden');
});
