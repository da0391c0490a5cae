/**
 * Adds two numbers.
 * @param {number} a the first
 * @param {number} b the second
 * @returns {number} their sum
 */
function add(a, b) {
  return a + b;
}

/** Divides, and refuses to by zero. */
function divide(a, b) {
  if (b === 0) throw new RangeError('division by zero');
  return a / b;
}

module.exports = { add, divide };
