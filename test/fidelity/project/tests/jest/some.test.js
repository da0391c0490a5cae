const { add, divide } = require('../../src/math');
test('adds', () => expect(add(1, 2)).toBe(3));
test('fails', () => expect(divide(4, 2)).toBe(3));
test('throws', () => expect(() => divide(1, 0)).toThrow(RangeError));
test('matches a snapshot', () => expect({ a: 1 }).toMatchSnapshot());
test('mocks a timer', () => {
  jest.useFakeTimers();
  const f = jest.fn();
  setTimeout(f, 1000);
  jest.runAllTimers();
  expect(f).toHaveBeenCalledTimes(1);
});
