import { passes } from './deaths.mjs';

describe('weather', () => {
  it('knows Oslo', passes);
});
