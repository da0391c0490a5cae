const { handle } = require('./store.cjs');

for (let number = 0; number < 80; number++)
  test(`request ${number}`, () => expect(handle(number)).toBe(1000));
